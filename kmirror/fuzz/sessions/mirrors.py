"""The mirror workflow of two clusters: orders in any order, to any broker, and what becomes of one topic's records.

The topic is made in cluster a. Both clusters may mirror it from the other, under one name: failover, failback, and what
should not be tried. Links are named by cluster and broker ("a1", "b2"), "aC" and "bC" are the controllers.
`mirror_model.py` says what may be answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kmirror.assembly.inside import CONTROLLER_ID
from kmirror.errors import CorruptBatch, UsageError
from kmirror.fuzz.findings import Fault, Kind
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import Call, Choose, Names, OneOf, Outcome, Pause, Rule, Step, World, expected
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    Pair,
    Side,
    Wish,
    added,
    closed,
    contents,
    end_of,
    ordered,
    rested,
)
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen import add_topics_to_mirror_request as adding
from kmirror.protocol.gen import pause_mirror_topics_request as pausing
from kmirror.protocol.gen import read_mirror_states_request as reading
from kmirror.protocol.gen import remove_topics_from_mirror_request as removing
from kmirror.protocol.gen import resume_mirror_topics_request as resuming
from kmirror.protocol.gen import write_mirror_states_request as writing
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest, LeaderEpochState, TopicState
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.read_mirror_states_response import ReadMirrorStatesResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch as Found
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.layout import LOG_OVERHEAD
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ResourceType

CLUSTERS = ("a", "b")
CONTROLLER = "C"
LONG_S = 300
"""After so long a time everything has come to its end."""
_BATCHES_MAX = 8
_FETCH_VERSION, _PRODUCE_VERSION, _CREATE_VERSION, _METADATA_VERSION, _ALTER_VERSION = 12, 9, 7, 12, 2
_TRIES_MAX = 500
_CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "mirror.topic.num.partitions": "2",
}
_NO_ROW = None
_RESTING = ("PAUSED", "STOPPED")
"""States in which a log stays as it is, so that it is worth to follow each length that it may have."""
_STATE_NAMES = {
    0: "PREPARING", 1: "MIRRORING", 2: "PAUSING", 3: "PAUSED", 4: "STOPPING", 5: "STOPPED", 6: "FAILED", 16: "UNKNOWN"
}  # fmt: skip
_NO_STATE, _WRONG_STATE = 16, 99
_EPOCH_TOO_HIGH = 0x7FFFFFFF


def _codes(*errors: ErrorCode) -> OneOf:
    return OneOf(frozenset(map(int, errors)))


_NOT_HERE = _codes(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.LEADER_NOT_AVAILABLE,
)
"""What a fetch is told by a broker that does not lead the topic, or does not know yet what may be read (D30)."""
_LATER = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)


@dataclass
class Known:
    """What the clients know."""

    topic: str
    topic_id: Uuid
    mirror: str
    brokers: Mapping[str, tuple[str, ...]]
    """Names of links, by cluster."""
    servers: Mapping[str, str]
    """Addresses, by cluster."""
    moves_time: bool
    values: int = 0
    stages: dict[str, str] = field(default_factory=lambda: dict.fromkeys(CLUSTERS, ""))
    """The order of each cluster that was carried out last."""
    is_there: dict[str, bool] = field(default_factory=dict)
    """Whether anybody saw the topic in a cluster."""
    epochs: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Which broker keeps the topic's state, and the leader epoch that is persisted with it, by cluster."""
    bytes: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """Batches as they were read first, by base offset and checksum."""


# -- requests -----------------------------------------------------------------------------------


def _broker(known: Known, cluster: str, choose: Choose) -> str:
    return choose.pick(known.brokers[cluster])


def _topic_id(known: Known, choose: Choose) -> Uuid:
    return choose.pick((Uuid.ZERO, Uuid.ZERO, known.topic_id))


def _wrong_id(known: Known, choose: Choose) -> Uuid:
    return Uuid.from_ints(7, 7) if choose.chance(0.05) else _topic_id(known, choose)


def _cluster(choose: Choose) -> str:
    return choose.pick(("b", "b", "b", "a"))


def _name(known: Known, choose: Choose) -> str:
    return f"{known.mirror}-absent" if choose.chance(0.05) else known.mirror


def _create(known: Known, choose: Choose, at: str = "") -> Step | None:
    cluster = at or _cluster(choose)
    name = known.mirror
    configs = [MirrorConfig("bootstrap.servers", known.servers["b" if cluster == "a" else "a"])]
    if choose.chance(0.1):
        name = f"{name}.paused"
    elif choose.chance(0.1):
        configs = []
    return Step("admin", CreateMirrorRequest(name, configs), 0, _broker(known, cluster, choose))


def _add(known: Known, choose: Choose, at: str = "") -> Step | None:
    cluster = at or _cluster(choose)
    if cluster == "a" and not known.is_there.get("b"):
        return None  # There is nothing to be mirrored, and the topic would be taken for gone (D16).
    request = AddTopicsToMirrorRequest(_name(known, choose), [adding.TopicData(_wrong_id(known, choose), known.topic)])
    return Step("admin", request, 0, _broker(known, cluster, choose))


def _pause(known: Known, choose: Choose, at: str = "") -> Step | None:
    rows = [pausing.TopicData(_topic_id(known, choose), known.topic)]
    request = PauseMirrorTopicsRequest(_name(known, choose), rows)
    return Step("admin", request, 0, _broker(known, at or _cluster(choose), choose))


def _resume(known: Known, choose: Choose, at: str = "") -> Step | None:
    rows = [resuming.TopicData(_topic_id(known, choose), known.topic)]
    request = ResumeMirrorTopicsRequest(_name(known, choose), rows)
    return Step("admin", request, 0, _broker(known, at or _cluster(choose), choose))


def _remove(known: Known, choose: Choose, at: str = "") -> Step | None:
    rows = [removing.TopicData(_topic_id(known, choose), known.topic)]
    request = RemoveTopicsFromMirrorRequest(_name(known, choose), rows)
    return Step("admin", request, 0, _broker(known, at or _cluster(choose), choose))


def _delete(known: Known, choose: Choose, at: str = "") -> Step | None:
    return Step("admin", DeleteMirrorRequest(_name(known, choose)), 0, _broker(known, at or _cluster(choose), choose))


def _alter(known: Known, choose: Choose) -> Step | None:
    kind, name = ResourceType.MIRROR, _name(known, choose)
    config = AlterableConfig("mirror.groups.clamp", ConfigOp.SET, choose.pick(("true", "false", "perhaps")))
    resource = AlterConfigsResource(kind, name, [config])
    return Step(
        "admin", IncrementalAlterConfigsRequest([resource]), _ALTER_VERSION, _broker(known, _cluster(choose), choose)
    )


def _describe(known: Known, choose: Choose) -> Step | None:
    request = DescribeMirrorsRequest(mirror_names=[_name(known, choose)])
    return Step("admin", request, 0, _broker(known, _cluster(choose), choose))


def _read_states(known: Known, choose: Choose) -> Step | None:
    rows = [reading.TopicData(known.topic, [reading.PartitionData(0)])]
    return Step("broker", ReadMirrorStatesRequest(known.mirror, rows), 0, _broker(known, _cluster(choose), choose))


def _write_state(known: Known, choose: Choose) -> Step | None:
    """Draw a write that no coordinator may take: of a mirror or topic that is not there, or of an old leader."""
    cluster = _cluster(choose)
    name, row, topic_id = known.mirror, writing.PartitionData(partition_index=0, state=_NO_STATE), known.topic_id
    at, epoch = known.epochs.get(cluster, (_broker(known, cluster, choose), 0))
    match choose.pick(("mirror", "id", "state", *(("epoch",) * 12 if epoch > 0 else ()))):
        case "mirror":
            name = f"{name}-absent"
        case "id":
            topic_id = Uuid.from_ints(7, 7)
        case "state":
            row.state = _WRONG_STATE
        case _:
            row.leader_epoch = epoch - 1
    rows = [writing.TopicData(name=known.topic, partitions=[row], topic_id=topic_id)]
    return Step("broker", WriteMirrorStatesRequest(name, rows), 0, at)


def _bump(known: Known, choose: Choose) -> Step | None:
    cluster = _cluster(choose)
    if not known.moves_time:
        return None  # Only a simulated controller can be asked.
    row = LeaderEpochState(partition_index=0, min_leader_epoch=choose.pick((0, 1, 2, 3, _EPOCH_TOO_HIGH)))
    topic_id = choose.pick((known.topic_id, known.topic_id, known.topic_id, Uuid.from_ints(7, 7)))
    return Step("broker", BumpLeaderEpochsRequest([TopicState(topic_id, [row])]), 0, cluster + CONTROLLER)


def _more_partitions(known: Known, choose: Choose) -> Step | None:
    """Draw a change of a topic that is refused for one reason or another: it has that one partition."""
    request = CreatePartitionsRequest([CreatePartitionsTopic(known.topic, 1)], timeout_ms=10_000)
    return Step("admin", request, 1, _broker(known, _cluster(choose), choose))


def _produce(known: Known, choose: Choose) -> Step | None:
    if known.values >= _BATCHES_MAX:
        return None
    return _produce_at(known, _broker(known, choose.pick(CLUSTERS), choose))


def _produce_at(known: Known, at: str) -> Step:
    known.values += 1
    data = PartitionProduceData(index=0, records=build_batch([RecordData(value=f"value {known.values}".encode())]))
    rows = [TopicProduceData(name=known.topic, partition_data=[data])]
    return Step("producer", ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=rows), _PRODUCE_VERSION, at)


def _fetch(known: Known, choose: Choose) -> Step | None:
    return _fetch_at(known, _broker(known, _cluster(choose), choose))


def _fetch_at(known: Known, at: str) -> Step:
    row = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic=known.topic, partitions=[row])])
    return Step("consumer", request, _FETCH_VERSION, at)


def _wait(known: Known, choose: Choose) -> Pause | None:
    return Pause(choose.pick((1, 2, 10, LONG_S))) if known.moves_time else None


_NEXT: Mapping[str, Callable[[Known, Choose, str], Step | None]] = {
    "": lambda known, choose, cluster: _create(known, choose, cluster),
    "DeleteMirror": lambda known, choose, cluster: _create(known, choose, cluster),
    "CreateMirror": lambda known, choose, cluster: _add(known, choose, cluster),
    "AddTopicsToMirror": lambda known, choose, cluster: choose.pick((_pause, _remove))(known, choose, cluster),
    "PauseMirrorTopics": lambda known, choose, cluster: choose.pick((_resume, _remove))(known, choose, cluster),
    "ResumeMirrorTopics": lambda known, choose, cluster: _remove(known, choose, cluster),
    "RemoveTopicsFromMirror": lambda known, choose, cluster: choose.pick((_add, _delete))(known, choose, cluster),
}
"""What users do next in a cluster, by what they did last."""


def _go_on(known: Known, choose: Choose) -> Step | None:
    """Draw the next order of the usual workflow: a mirror, a failover, a failback."""
    stages = known.stages
    if stages["b"] == "RemoveTopicsFromMirror":  # The way back.
        cluster = choose.pick(("a", "a", "b"))
    else:
        cluster = choose.pick(("a", "b", "b")) if stages["a"] not in ("", "DeleteMirror") else "b"
    return _NEXT[stages[cluster]](known, choose, cluster)


# -- the machine --------------------------------------------------------------------------------


class Mirrors:
    """Two clusters of ours and one topic."""

    name = "mirrors"
    aged: frozenset[str] = frozenset()
    rules = (
        Rule("go on", 10, _go_on),
        Rule("create", 2, _create),
        Rule("add", 3, _add),
        Rule("pause", 2, _pause),
        Rule("resume", 2, _resume),
        Rule("remove", 3, _remove),
        Rule("delete", 1, _delete),
        Rule("alter", 1, _alter),
        Rule("describe", 5, _describe),
        Rule("read states", 2, _read_states),
        Rule("write a state", 2, _write_state),
        Rule("bump", 1, _bump),
        Rule("more partitions", 1, _more_partitions),
        Rule("produce", 6, _produce),
        Rule("fetch", 4, _fetch),
        Rule("wait", 6, _wait),
    )

    def begin(self, world: World) -> tuple[Known, Pair]:
        """Ask who the brokers are, and make the topic in cluster a."""
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
        """Yield what the clusters may do with a request."""
        step = call.step
        if isinstance(step, Pause):
            yield from (Outcome(after, {}) for after in (rested(state) if step.seconds >= LONG_S else (state,)))
            return
        answer = _ANSWERS[type(step.body)]
        yield from (Outcome(after, {call.number: told}) for after, told in answer(closed(state), step))

    def drifts(self, state: Pair) -> Iterable[Outcome[Pair]]:
        """Yield nothing: what goes on by itself is in the state."""
        return ()

    def read(self, known: Known, step: Step, answer: Any) -> Mapping[str, Any]:
        """Return the places of an answer; raises `Fault` for records that are none."""
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
                    (row.state, row.destination_offset)
                    for topic in described.topics
                    for row in topic.partitions
                    if topic.topic_name == known.topic
                ]
                return {"error": described.error_code, "row": rows[0] if rows else _NO_ROW}
            case ReadMirrorStatesRequest():
                found = answer.topics[0].partitions[0]
                return {"error": found.error_code, "state": _STATE_NAMES.get(found.state, str(found.state))}
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
        """Note where the topic was seen, and its epochs."""
        cluster = step.at[0]
        match answer:
            case FetchResponse() if not answer.responses[0].partitions[0].error_code:
                known.is_there[cluster] = True
            case ReadMirrorStatesResponse() if not answer.topics[0].partitions[0].error_code:
                known.epochs[cluster] = (step.at, answer.topics[0].partitions[0].leader_epoch)
            case _ if step.name in _NEXT and not answer.error_code and not any(_rows_of(answer)):
                known.stages[cluster] = step.name
            case DescribeMirrorsResponse() if any(
                topic.partitions for mirror in answer.mirrors for topic in mirror.topics
            ):
                known.is_there[cluster] = True
            case _:
                pass

    def last(self, known: Known) -> Iterator[Step | Pause]:
        """Yield a long pause if time can be moved, and ask of everything."""
        if known.moves_time:
            yield Pause(LONG_S)
        for cluster in CLUSTERS:
            for at in known.brokers[cluster]:
                yield Step("admin", DescribeMirrorsRequest(mirror_names=[known.mirror]), 0, at)
                yield _fetch_at(known, at)
                yield _produce_at(known, at)
        for at in (at for cluster in CLUSTERS for at in known.brokers[cluster]):
            yield _fetch_at(known, at)


MACHINE = Mirrors()


def simulated(seed: int, choose: Choose) -> SimulatedLink:
    """Return two clusters of ours with one or two brokers each."""
    simulation = Simulation(seed=seed)
    endpoints = {}
    for name in CLUSTERS:
        cluster = Cluster(simulation, name, brokers=choose.pick((1, 1, 2)), replication_factor=1, configs=_CONFIGS)
        cluster.start()
        endpoints.update({f"{name}{broker}": cluster.endpoint(broker) for broker in cluster.broker_ids})
        endpoints[name + CONTROLLER] = cluster.endpoint(CONTROLLER_ID)
    return SimulatedLink(simulation.world, endpoints)


def _until_taken(world: World, known: Known) -> Batch:
    """Write the first batch of the topic, and return it."""
    for _ in range(_TRIES_MAX):
        for at in known.brokers["a"]:
            step = _produce_at(known, at)
            answer = world.ask(step.body, step.version, at)
            assert isinstance(answer, ProduceResponse)
            if not answer.responses[0].partition_responses[0].error_code:
                known.values = 1
                return _produced(step, 0)
        world.rest()
    raise UsageError(f"topic {known.topic} takes no records")


def _produced(step: Step, base: int) -> Batch:
    request = step.body
    assert isinstance(request, ProduceRequest)
    batch = Found(bytes(request.topic_data[0].partition_data[0].records or b""))
    return Batch(base, batch.record_count, batch.crc)


def _read_batches(known: Known, data: bytes) -> Mapping[str, Any]:
    """Return the batches, and whether one of them has other bytes than where it was read before."""
    rows: list[Batch] = []
    has_changed = False
    try:
        for batch in iter_batches(data, check_crc=True):
            is_reset = batch.is_control
            rows.append(Batch(batch.base_offset, batch.record_count, RESET if is_reset else batch.crc))
            octets = data[batch.position : batch.position + LOG_OVERHEAD + batch.batch_length]
            before = known.bytes.setdefault((batch.base_offset, batch.crc), octets)
            has_changed |= before != octets
    except CorruptBatch as error:
        raise Fault(Kind.DIFFERS, f"records: {error}", "mirrors: records that are none", "what was produced") from None
    return {"batches": tuple(rows), "has_changed": has_changed}


def _rows_of(answer: Any) -> list[int]:
    return [topic.error_code for topic in getattr(answer, "topics", ())]


# -- what may be answered -----------------------------------------------------------------------

Answers = Iterator[tuple[Pair, Any]]


def _create_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, CreateMirrorRequest)
    cluster = step.at[0]
    side, name = pair.side(cluster), request.mirror_name
    if name.endswith(".paused"):
        yield pair, expected(error=int(ErrorCode.INVALID_MIRROR_NAME))
    elif name in side.mirrors:
        yield pair, expected(error=int(ErrorCode.MIRROR_ALREADY_EXISTS))
    elif not request.config:
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG))
    else:
        yield pair.put(cluster, replace(side, mirrors=side.mirrors | {name})), expected(error=0)


def _add_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, AddTopicsToMirrorRequest)
    cluster = step.at[0]
    side, topic_id = pair.side(cluster), request.topics[0].topic_id
    if side.wish is Wish.REMOVE:
        if side.states - {"UNKNOWN", "STOPPED"}:
            yield pair, expected(error=int(ErrorCode.INVALID_REQUEST), rows_error=())
        yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE), rows_error=())
    if request.mirror_name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    is_other = topic_id == Uuid.from_ints(7, 7)
    if is_other and side.exists is not False:
        yield pair, expected(error=0, rows_error=(int(ErrorCode.INCONSISTENT_TOPIC_ID),))
        if side.exists:
            return
    if side.wish in (Wish.MIRROR, Wish.PAUSE):
        yield pair, expected(error=0, rows_error=(int(ErrorCode.TOPIC_ALREADY_IN_MIRROR),))
        return
    for after in added(pair, cluster):
        yield after, expected(error=0, rows_error=(0,))


def _order_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, PauseMirrorTopicsRequest | ResumeMirrorTopicsRequest | RemoveTopicsFromMirrorRequest)
    cluster = step.at[0]
    if request.mirror_name not in pair.side(cluster).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), rows_error=())
        return
    for error, after in ordered(pair, cluster, step.name):
        yield pair.put(cluster, after), expected(error=0, rows_error=(error,))


def _delete_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, DeleteMirrorRequest)
    cluster = step.at[0]
    side = pair.side(cluster)
    if request.mirror_name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        return
    yield pair, expected(error=int(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    if side.wish is not None and (side.wish is not Wish.REMOVE or side.states != {"STOPPED"} or not side.is_heard):
        yield pair, expected(error=int(ErrorCode.MIRROR_NOT_EMPTY))
    gone = replace(side, mirrors=side.mirrors - {request.mirror_name}, was_deleted=True)
    if side.wish is None:
        yield pair.put(cluster, gone), expected(error=0)
    elif side.wish is Wish.REMOVE and "STOPPED" in side.states:
        stopped = pair.put(cluster, replace(gone, states=frozenset({"STOPPED"})))
        for content, found in contents(stopped, cluster):
            after = replace(found.side(cluster), wish=None, states=frozenset(), log=content, is_settled=True)
            yield found.put(cluster, after), expected(error=0)


def _alter_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, IncrementalAlterConfigsRequest)
    resource = request.resources[0]
    if resource.resource_name not in pair.side(step.at[0]).mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
    else:
        is_wrong = resource.configs[0].value == "perhaps"
        yield pair, expected(error=int(ErrorCode.INVALID_CONFIG) if is_wrong else 0)


def _describe_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, DescribeMirrorsRequest)
    (name,) = request.mirror_names or ("",)
    cluster = step.at[0]
    side = pair.side(cluster)
    if name not in side.mirrors:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=_NO_ROW)
        if side.was_deleted:  # The broker has not heard of it yet.
            yield pair, expected(error=0)
        return
    place = (step.at, name)
    if place not in side.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR), row=_NO_ROW)
        side = replace(side, described=side.described | {place})
        pair = pair.put(cluster, side)
    if side.wish is None:
        yield pair, expected(error=0) if side.was_deleted else expected(error=0, row=_NO_ROW)
        return
    yield pair, expected(error=0, row=_NO_ROW)
    for state in sorted(side.states):
        at_state = replace(side, states=frozenset({state}), is_closed=True, exists=True)
        at_state = replace(at_state, is_heard=at_state.is_heard or state in ("PAUSED", "STOPPING", "STOPPED"))
        there = pair.put(cluster, at_state)
        if state not in _RESTING:
            ends = frozenset((state, end_of(content)) for content, _ in contents(there, cluster))
            yield there, expected(error=0, row=OneOf(ends))
            continue
        for content, found in contents(there, cluster):
            after = found.side(cluster)
            is_still = after.is_still or (state == "PAUSED" and after.wish is Wish.PAUSE)
            yield found.put(cluster, replace(after, is_still=is_still)), expected(error=0, row=(state, end_of(content)))
    ends = frozenset(("UNKNOWN", end_of(content)) for content, _ in contents(pair, cluster))
    yield _seen(pair, cluster), expected(error=0, row=OneOf(ends))  # A leader that has not read the state.


def _seen(pair: Pair, cluster: str) -> Pair:
    return pair.put(cluster, replace(pair.side(cluster), exists=True))


def _read_answers(pair: Pair, step: Step) -> Answers:
    side = pair.side(step.at[0])
    states = set(side.states) if side.wish is not None else {"UNKNOWN"}
    if side.was_deleted or side.wish is None:
        states |= {"UNKNOWN", "STOPPED"}
    yield pair, expected(error=0, state=OneOf(frozenset(states)))
    yield pair, expected(error=_codes(*_LATER))
    if side.exists is not True or side.wish is None:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))


def _write_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, WriteMirrorStatesRequest)
    topic = request.topics[0]
    side, row = pair.side(step.at[0]), topic.partitions[0]
    yield pair, expected(error=_codes(*_LATER))
    if row.state == _WRONG_STATE:
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST))
        return
    if topic.topic_id == Uuid.from_ints(7, 7) or side.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
        if side.exists is True or topic.topic_id == Uuid.from_ints(7, 7):
            return
    if request.mirror_name not in side.mirrors or (step.at, request.mirror_name) not in side.described:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_MIRROR))
        if request.mirror_name not in side.mirrors and not side.was_deleted:
            return
    yield pair, expected(error=int(ErrorCode.FENCED_LEADER_EPOCH))
    if side.was_deleted:  # Nothing is persisted any more that could fence.
        yield pair, expected(error=_codes(ErrorCode.NONE, ErrorCode.INVALID_REQUEST))


def _bump_answers(pair: Pair, step: Step) -> Answers:
    request = step.body
    assert isinstance(request, BumpLeaderEpochsRequest)
    topic = request.topics[0]
    exists = pair.side(step.at[0]).exists
    if topic.topic_id == Uuid.from_ints(7, 7) or exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_ID))
    if topic.topic_id != Uuid.from_ints(7, 7) and exists is not False:
        is_high = topic.partitions[0].min_leader_epoch == _EPOCH_TOO_HIGH
        yield pair, expected(error=int(ErrorCode.INVALID_REQUEST) if is_high else 0)


def _partitions_answers(pair: Pair, step: Step) -> Answers:
    side = pair.side(step.at[0])
    if side.exists is not True:
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if side.exists is not False:
        is_closed = side.wish in (Wish.MIRROR, Wish.PAUSE)
        yield pair, expected(error=int(ErrorCode.READ_ONLY_TOPIC if is_closed else ErrorCode.INVALID_PARTITIONS))


def _produce_answers(pair: Pair, step: Step) -> Answers:
    cluster = step.at[0]
    side = pair.side(cluster)
    yield pair, expected(error=int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    if side.exists is not True or (side.wish is not None and not side.is_closed):
        yield pair, expected(error=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if side.exists is False:
            return
    may_write = side.wish is None or (side.wish is Wish.REMOVE and "STOPPED" in side.states) or not side.is_closed
    if side.wish is not None and (side.wish is not Wish.REMOVE or side.states != {"STOPPED"} or not side.is_heard):
        closed_now = replace(side, is_closed=True, exists=True)
        if side.wish is Wish.REMOVE:
            closed_now = replace(closed_now, states=side.states - {"STOPPED"} if side.is_heard else side.states)
        yield pair.put(cluster, closed_now), expected(error=int(ErrorCode.READ_ONLY_TOPIC))
    if not may_write:
        return
    if side.wish is Wish.REMOVE:
        side = replace(side, states=frozenset({"STOPPED"}))
    for content, found in contents(pair.put(cluster, side), cluster):
        if side.wish not in (None, Wish.REMOVE) and content != side.log:
            continue  # The leader has not heard of the mirror: nothing was cut.
        base = end_of(content)
        after = replace(found.side(cluster), exists=True, log=(*content, _produced(step, base)))
        if side.wish is Wish.REMOVE:
            after = replace(after, is_settled=True)
        yield found.put(cluster, after), expected(error=0, base=base)


def _fetch_answers(pair: Pair, step: Step) -> Answers:
    cluster = step.at[0]
    side = pair.side(cluster)
    yield pair, expected(error=_NOT_HERE if side.wish is not None or not side.exists else _not_led())
    if side.exists is False:
        return
    for content, found in contents(pair, cluster):
        yield _seen(found, cluster), expected(error=0, batches=content, has_changed=False)


def _not_led() -> int:
    return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)


_ANSWERS: Mapping[type[Message], Callable[[Pair, Step], Answers]] = {
    CreateMirrorRequest: _create_answers,
    AddTopicsToMirrorRequest: _add_answers,
    PauseMirrorTopicsRequest: _order_answers,
    ResumeMirrorTopicsRequest: _order_answers,
    RemoveTopicsFromMirrorRequest: _order_answers,
    DeleteMirrorRequest: _delete_answers,
    IncrementalAlterConfigsRequest: _alter_answers,
    DescribeMirrorsRequest: _describe_answers,
    ReadMirrorStatesRequest: _read_answers,
    WriteMirrorStatesRequest: _write_answers,
    BumpLeaderEpochsRequest: _bump_answers,
    CreatePartitionsRequest: _partitions_answers,
    ProduceRequest: _produce_answers,
    FetchRequest: _fetch_answers,
}
