"""Rule machine of mirroring between two clusters: orders in any order, to any broker, and the records of one topic.

The topic is created in cluster a. Both clusters may mirror it from the other, under one mirror name: failover,
failback, and invalid orders. Links are named by cluster and broker ("a1", "b2"); "aC" and "bC" are the controllers.
`mirror_model.py` is the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kmirror.errors import CorruptBatch, UsageError
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import Call, Choose, Names, Outcome, Pause, Step, World
from kmirror.fuzz.sessions.mirror_answers import ANSWERS, NO_ROW, produced
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    Pair,
    Side,
    closed,
    rested,
)
from kmirror.fuzz.sessions.mirror_requests import (
    CLUSTERS,
    CONTROLLER,
    LONG_S,
    NEXT,
    RULES,
    Known,
    Persisted,
    fetch_at,
    former_write,
    produce_at,
    read_states_at,
    states_of_former,
)
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.read_mirror_states_response import ReadMirrorStatesResponse
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.records.batch import iter_batches
from kmirror.records.layout import LOG_OVERHEAD
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

_CREATE_VERSION, _METADATA_VERSION = 7, 12
_TRIES_MAX = 500
_CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "mirror.topic.num.partitions": "2",
}
_STATE_NAMES = {
    0: "PREPARING", 1: "MIRRORING", 2: "PAUSING", 3: "PAUSED", 4: "STOPPING", 5: "STOPPED", 6: "FAILED", 16: "UNKNOWN"
}  # fmt: skip


class Mirrors:
    """Two kmirror clusters and one topic."""

    name = "mirrors"
    aged: frozenset[str] = frozenset()
    rules = RULES

    def begin(self, world: World) -> tuple[Known, Pair]:
        """Read the ids of the brokers, and create the topic in cluster a."""
        brokers: dict[str, tuple[str, ...]] = {}
        servers: dict[str, str] = {}
        for cluster in CLUSTERS:
            seen = world.ask(MetadataRequest(topics=[]), _METADATA_VERSION, f"{cluster}1")
            assert isinstance(seen, MetadataResponse)
            rows = sorted(seen.brokers, key=lambda row: row.node_id)
            brokers[cluster] = tuple(f"{cluster}{row.node_id}" for row in rows)
            servers[cluster] = ",".join(f"{row.host}:{row.port}" for row in rows)
        name = f"{world.prefix}-topic"
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        made = world.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), _CREATE_VERSION, "a1")
        assert isinstance(made, CreateTopicsResponse)
        known = Known(name, made.topics[0].topic_id, f"{world.prefix}-mirror", brokers, servers, world.moves_time)
        known.is_there["a"] = True
        first = _until_taken(world, known)
        return known, Pair(Side(exists=True, log=(first,)), Side())

    def outcomes(self, state: Pair, call: Call, names: Names) -> Iterable[Outcome[Pair]]:
        """Yield the possible reactions of the clusters to a request."""
        step = call.step
        if isinstance(step, Pause):
            yield from (Outcome(after, {}) for after in (rested(state) if step.seconds >= LONG_S else (state,)))
            return
        answer = ANSWERS[type(step.body)]
        yield from (Outcome(after, {call.number: told}) for after, told in answer(closed(state), step))

    def drifts(self, state: Pair) -> Iterable[Outcome[Pair]]:
        """Yield nothing: autonomous changes are part of the state."""
        return ()

    def read(self, known: Known, step: Step, answer: Any) -> Mapping[str, Any]:
        """Return the compared values of a response; raises `Fault` for invalid records."""
        match step.body:
            case FetchRequest():
                row = answer.responses[0].partitions[0]
                return {"error": row.error_code, **_read_batches(known, bytes(row.records or b""))}
            case ProduceRequest():
                made = answer.responses[0].partition_responses[0]
                return {"error": made.error_code, "base": made.base_offset}
            case DescribeMirrorsRequest():
                described = answer.mirrors[0]
                rows = [
                    row for topic in described.topics if topic.topic_name == known.topic for row in topic.partitions
                ]
                state = (rows[0].state, rows[0].destination_offset) if rows else NO_ROW
                last = rows[0].last_mirror_epoch if rows else -1
                return {"error": described.error_code, "row": state, "last_mirrored": last}
            case ReadMirrorStatesRequest():
                found = answer.topics[0].partitions[0]
                return {
                    "error": found.error_code,
                    "state": _STATE_NAMES.get(found.state, str(found.state)),
                    "has_epoch": found.leader_epoch >= 0,
                    "has_fallen": found.leader_epoch < known.epochs_before.get(step, -1),
                }
            case WriteMirrorStatesRequest():
                return {"error": answer.error_code or answer.topics[0].partitions[0].error_code}
            case BumpLeaderEpochsRequest():
                return {"error": answer.topics[0].partitions[0].error_code}
            case CreatePartitionsRequest():
                return {"error": answer.results[0].error_code}
            case IncrementalAlterConfigsRequest():
                return {"error": answer.responses[0].error_code}
            case CreateMirrorRequest() | DeleteMirrorRequest():
                return {"error": answer.error_code}
            case _:
                return {"error": answer.error_code, "rows_error": tuple(_rows_of(answer))}

    def learn(self, known: Known, step: Step, answer: Any) -> None:
        """Record the clusters with the topic, its persisted state, and the last order."""
        cluster = step.at[0]
        match answer:
            case FetchResponse() if not answer.responses[0].partitions[0].error_code:
                known.is_there[cluster] = True
            case ReadMirrorStatesResponse() if not answer.topics[0].partitions[0].error_code:
                row = answer.topics[0].partitions[0]
                known.persisted[cluster] = Persisted(step.at, row.state, row.leader_epoch)
            case _ if step.name in NEXT and not answer.error_code and not any(_rows_of(answer)):
                known.stages[cluster] = step.name
            case DescribeMirrorsResponse() if any(
                topic.partitions for mirror in answer.mirrors for topic in mirror.topics
            ):
                known.is_there[cluster] = True
            case _:
                pass

    def last(self, known: Known) -> Iterator[Step | Pause]:
        """Yield a long pause if time can be moved, then requests about everything."""
        if known.moves_time:
            yield Pause(LONG_S)
        for cluster in CLUSTERS:
            for at in known.brokers[cluster]:
                yield Step("admin", DescribeMirrorsRequest(mirror_names=[known.mirror]), 0, at)
                yield fetch_at(known, at)
                yield produce_at(known, at)
                yield read_states_at(known, at)
            persisted = known.persisted.get(cluster)
            for state in states_of_former(persisted):
                assert persisted is not None, "there was a former leader"
                yield former_write(known, persisted, state)
        for at in (at for cluster in CLUSTERS for at in known.brokers[cluster]):
            yield fetch_at(known, at)


MACHINE = Mirrors()


def simulated(seed: int, choose: Choose) -> SimulatedLink:
    """Return two kmirror clusters with one or two brokers each."""
    simulation = Simulation(seed=seed)
    endpoints = {}
    for name in CLUSTERS:
        cluster = Cluster(simulation, name, brokers=choose.pick((1, 1, 2)), replication_factor=1, configs=_CONFIGS)
        cluster.start()
        endpoints.update({f"{name}{broker}": cluster.endpoint(broker) for broker in cluster.broker_ids})
        endpoints[name + CONTROLLER] = cluster.endpoint(cluster.controller_id)
    return SimulatedLink(simulation.world, endpoints)


def _until_taken(world: World, known: Known) -> Batch:
    """Write the first batch of the topic, and return it."""
    for _ in range(_TRIES_MAX):
        for at in known.brokers["a"]:
            step = produce_at(known, at)
            answer = world.ask(step.body, step.version, at)
            assert isinstance(answer, ProduceResponse)
            if not answer.responses[0].partition_responses[0].error_code:
                known.values = 1
                return produced(step, 0)
        world.rest()
    raise UsageError(f"topic {known.topic} takes no records")


def _read_batches(known: Known, data: bytes) -> Mapping[str, Any]:
    """Return the batches, and whether the bytes of one differ from those read before."""
    rows: list[Batch] = []
    epochs: list[int] = []
    has_changed = False
    try:
        for batch in iter_batches(data, check_crc=True):
            is_reset = batch.is_control
            rows.append(Batch(batch.base_offset, batch.record_count, RESET if is_reset else batch.crc))
            epochs.append(batch.partition_leader_epoch)
            octets = data[batch.position : batch.position + LOG_OVERHEAD + batch.batch_length]
            before = known.bytes.setdefault((batch.base_offset, batch.crc), octets)
            has_changed |= before != octets
    except CorruptBatch as error:
        raise Fault(
            FaultKind.DIFFERS, f"records: {error}", "mirrors: records that are none", "the produced records"
        ) from None
    return {"batches": tuple(rows), "epochs": tuple(epochs), "has_changed": has_changed}


def _rows_of(answer: Any) -> list[int]:
    return [topic.error_code for topic in getattr(answer, "topics", ())]
