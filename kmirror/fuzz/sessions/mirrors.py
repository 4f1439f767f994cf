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
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    ClusterState,
    Pair,
    settle,
    with_reachable_states,
)
from kmirror.fuzz.sessions.mirror_requests import (
    CLUSTERS,
    CONTROLLER,
    LONG_S,
    NEXT_ORDERS,
    RULES,
    Knowledge,
    Persisted,
    fetch_step,
    former_leader_states,
    former_leader_write,
    produce_step,
    read_states_step,
)
from kmirror.fuzz.sessions.mirror_responses import NO_ROW, RESPONSES, stored_batch
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
    stale_fields: frozenset[str] = frozenset()
    rules = RULES

    def begin(self, world: World) -> tuple[Knowledge, Pair]:
        """Read the ids of the brokers, and create the topic in cluster a."""
        brokers: dict[str, tuple[str, ...]] = {}
        servers: dict[str, str] = {}
        for cluster in CLUSTERS:
            metadata = world.ask(MetadataRequest(topics=[]), _METADATA_VERSION, f"{cluster}1")
            assert isinstance(metadata, MetadataResponse)
            rows = sorted(metadata.brokers, key=lambda row: row.node_id)
            brokers[cluster] = tuple(f"{cluster}{row.node_id}" for row in rows)
            servers[cluster] = ",".join(f"{row.host}:{row.port}" for row in rows)
        name = f"{world.prefix}-topic"
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        created = world.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), _CREATE_VERSION, "a1")
        assert isinstance(created, CreateTopicsResponse)
        known = Knowledge(
            name, created.topics[0].topic_id, f"{world.prefix}-mirror", brokers, servers, world.moves_time
        )
        known.has_topic["a"] = True
        first = _write_first_batch(world, known)
        return known, Pair(ClusterState(exists=True, log=(first,)), ClusterState())

    def outcomes(self, state: Pair, call: Call, names: Names) -> Iterable[Outcome[Pair]]:
        """Yield the possible reactions of the clusters to a request."""
        step = call.step
        if isinstance(step, Pause):
            yield from (Outcome(after, {}) for after in (settle(state) if step.seconds >= LONG_S else (state,)))
            return
        respond = RESPONSES[type(step.body)]
        yield from (
            Outcome(after, {call.number: response}) for after, response in respond(with_reachable_states(state), step)
        )

    def autonomous_outcomes(self, state: Pair) -> Iterable[Outcome[Pair]]:
        """Yield nothing: autonomous changes are part of the state."""
        return ()

    def read(self, known: Knowledge, step: Step, response: Any) -> Mapping[str, Any]:
        """Return the compared values of a response; raises `Fault` for invalid records."""
        match step.body:
            case FetchRequest():
                row = response.responses[0].partitions[0]
                return {"error": row.error_code, **_read_batches(known, bytes(row.records or b""))}
            case ProduceRequest():
                row = response.responses[0].partition_responses[0]
                return {"error": row.error_code, "base": row.base_offset}
            case DescribeMirrorsRequest():
                described = response.mirrors[0]
                rows = [
                    row for topic in described.topics if topic.topic_name == known.topic for row in topic.partitions
                ]
                state = (rows[0].state, rows[0].destination_offset) if rows else NO_ROW
                last = rows[0].last_mirror_epoch if rows else -1
                return {"error": described.error_code, "row": state, "last_mirrored": last}
            case ReadMirrorStatesRequest():
                found = response.topics[0].partitions[0]
                return {
                    "error": found.error_code,
                    "state": _STATE_NAMES.get(found.state, str(found.state)),
                    "has_epoch": found.leader_epoch >= 0,
                    "has_fallen": found.leader_epoch < known.epochs_before.get(step, -1),
                }
            case WriteMirrorStatesRequest():
                return {"error": response.error_code or response.topics[0].partitions[0].error_code}
            case BumpLeaderEpochsRequest():
                return {"error": response.topics[0].partitions[0].error_code}
            case CreatePartitionsRequest():
                return {"error": response.results[0].error_code}
            case IncrementalAlterConfigsRequest():
                return {"error": response.responses[0].error_code}
            case CreateMirrorRequest() | DeleteMirrorRequest():
                return {"error": response.error_code}
            case _:
                return {"error": response.error_code, "rows_error": tuple(_rows_of(response))}

    def learn(self, known: Knowledge, step: Step, response: Any) -> None:
        """Record the clusters with the topic, its persisted state, and the last order."""
        cluster = step.broker[0]
        match response:
            case FetchResponse() if not response.responses[0].partitions[0].error_code:
                known.has_topic[cluster] = True
            case ReadMirrorStatesResponse() if not response.topics[0].partitions[0].error_code:
                row = response.topics[0].partitions[0]
                known.persisted[cluster] = Persisted(step.broker, row.state, row.leader_epoch)
            case _ if step.name in NEXT_ORDERS and not response.error_code and not any(_rows_of(response)):
                known.last_orders[cluster] = step.name
            case DescribeMirrorsResponse() if any(
                topic.partitions for mirror in response.mirrors for topic in mirror.topics
            ):
                known.has_topic[cluster] = True
            case _:
                pass

    def last_steps(self, known: Knowledge) -> Iterator[Step | Pause]:
        """Yield a long pause if time can be moved, then requests about everything."""
        if known.moves_time:
            yield Pause(LONG_S)
        for cluster in CLUSTERS:
            for broker in known.brokers[cluster]:
                yield Step("admin", DescribeMirrorsRequest(mirror_names=[known.mirror]), 0, broker)
                yield fetch_step(known, broker)
                yield produce_step(known, broker)
                yield read_states_step(known, broker)
            persisted = known.persisted.get(cluster)
            for state in former_leader_states(persisted):
                assert persisted is not None, "there was a former leader"
                yield former_leader_write(known, persisted, state)
        for broker in (broker for cluster in CLUSTERS for broker in known.brokers[cluster]):
            yield fetch_step(known, broker)


MACHINE = Mirrors()


def open_simulated_link(seed: int, choose: Choose) -> SimulatedLink:
    """Return two kmirror clusters with one or two brokers each."""
    simulation = Simulation(seed=seed)
    endpoints = {}
    for name in CLUSTERS:
        cluster = Cluster(simulation, name, brokers=choose.pick((1, 1, 2)), replication_factor=1, configs=_CONFIGS)
        cluster.start()
        endpoints.update({f"{name}{broker}": cluster.endpoint(broker) for broker in cluster.broker_ids})
        endpoints[name + CONTROLLER] = cluster.endpoint(cluster.controller_id)
    return SimulatedLink(simulation.world, endpoints)


def _write_first_batch(world: World, known: Knowledge) -> Batch:
    """Write the first batch of the topic, and return it."""
    for _ in range(_TRIES_MAX):
        for broker in known.brokers["a"]:
            step = produce_step(known, broker)
            response = world.ask(step.body, step.version, broker)
            assert isinstance(response, ProduceResponse)
            if not response.responses[0].partition_responses[0].error_code:
                known.values = 1
                return stored_batch(step, 0)
        world.wait_briefly()
    raise UsageError(f"topic {known.topic} takes no records")


def _read_batches(known: Knowledge, data: bytes) -> Mapping[str, Any]:
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
            before = known.batch_bytes.setdefault((batch.base_offset, batch.crc), octets)
            has_changed |= before != octets
    except CorruptBatch as error:
        raise Fault(
            FaultKind.DIFFERS, f"records: {error}", "mirrors: records that are none", "the produced records"
        ) from None
    return {"batches": tuple(rows), "epochs": tuple(epochs), "has_changed": has_changed}


def _rows_of(response: Any) -> list[int]:
    return [topic.error_code for topic in getattr(response, "topics", ())]
