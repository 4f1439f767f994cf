"""Requests of users and brokers in a session of the machine `mirrors`, and the rules that draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.fuzz.sessions.machine import Choose, Pause, Rule, Step
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
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.wire_values import ConfigOp, ResourceType

CLUSTERS = ("a", "b")
CONTROLLER = "C"
LONG_S = 300
"""Seconds after which every operation has completed."""
_BATCHES_MAX = 8
_FETCH_VERSION, _PRODUCE_VERSION, _ALTER_VERSION = 12, 9, 2
NO_STATE, WRONG_STATE = 16, 99
_INVALID_FIRST_STATES = (1, 2, 3, 4, 5)
"""States that no coordinator accepts for a partition without a persisted state, so such a write changes nothing."""
EPOCH_TOO_HIGH = 0x7FFFFFFF


class Persisted(NamedTuple):
    """A state as reported by a coordinator."""

    broker: str
    """The broker of the coordinator."""
    state: int
    leader_epoch: int


@dataclass
class Knowledge:
    """Knowledge of the clients."""

    topic: str
    topic_id: Uuid
    mirror: str
    brokers: Mapping[str, tuple[str, ...]]
    """Names of links, by cluster."""
    servers: Mapping[str, str]
    """Bootstrap addresses, by cluster."""
    moves_time: bool
    values: int = 0
    last_orders: dict[str, str] = field(default_factory=lambda: dict.fromkeys(CLUSTERS, ""))
    """The last successful order in each cluster."""
    has_topic: dict[str, bool] = field(default_factory=dict)
    """Whether the topic was seen in a cluster."""
    persisted: dict[str, Persisted] = field(default_factory=dict)
    """The last state reported as persisted for the topic, by cluster."""
    epochs_before: dict[Step, int] = field(default_factory=dict)
    """The persisted leader epoch known when a ReadMirrorStates was drawn; its response must not be below it."""
    batch_bytes: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """Batches as first read, by base offset and checksum."""


# -- requests -----------------------------------------------------------------------------------


def _draw_broker(known: Knowledge, cluster: str, choose: Choose) -> str:
    return choose.pick(known.brokers[cluster])


def _draw_topic_id(known: Knowledge, choose: Choose) -> Uuid:
    return choose.pick((Uuid.ZERO, Uuid.ZERO, known.topic_id))


def _draw_any_topic_id(known: Knowledge, choose: Choose) -> Uuid:
    return Uuid.from_ints(7, 7) if choose.chance(0.05) else _draw_topic_id(known, choose)


def _draw_cluster(choose: Choose) -> str:
    return choose.pick(("b", "b", "b", "a"))


def _draw_mirror_name(known: Knowledge, choose: Choose) -> str:
    return f"{known.mirror}-absent" if choose.chance(0.05) else known.mirror


def _create(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    cluster = cluster or _draw_cluster(choose)
    name = known.mirror
    configs = [MirrorConfig("bootstrap.servers", known.servers["b" if cluster == "a" else "a"])]
    if choose.chance(0.1):
        name = f"{name}.paused"
    elif choose.chance(0.1):
        configs = []
    return Step("admin", CreateMirrorRequest(name, configs), 0, _draw_broker(known, cluster, choose))


def _add(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    cluster = cluster or _draw_cluster(choose)
    if cluster == "a" and not known.has_topic.get("b"):
        return None  # The topic does not exist in the source, and would be taken for deleted (D16).
    request = AddTopicsToMirrorRequest(
        _draw_mirror_name(known, choose), [adding.TopicData(_draw_any_topic_id(known, choose), known.topic)]
    )
    return Step("admin", request, 0, _draw_broker(known, cluster, choose))


def _pause(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    rows = [pausing.TopicData(_draw_topic_id(known, choose), known.topic)]
    request = PauseMirrorTopicsRequest(_draw_mirror_name(known, choose), rows)
    return Step("admin", request, 0, _draw_broker(known, cluster or _draw_cluster(choose), choose))


def _resume(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    rows = [resuming.TopicData(_draw_topic_id(known, choose), known.topic)]
    request = ResumeMirrorTopicsRequest(_draw_mirror_name(known, choose), rows)
    return Step("admin", request, 0, _draw_broker(known, cluster or _draw_cluster(choose), choose))


def _remove(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    rows = [removing.TopicData(_draw_topic_id(known, choose), known.topic)]
    request = RemoveTopicsFromMirrorRequest(_draw_mirror_name(known, choose), rows)
    return Step("admin", request, 0, _draw_broker(known, cluster or _draw_cluster(choose), choose))


def _delete(known: Knowledge, choose: Choose, cluster: str = "") -> Step | None:
    return Step(
        "admin",
        DeleteMirrorRequest(_draw_mirror_name(known, choose)),
        0,
        _draw_broker(known, cluster or _draw_cluster(choose), choose),
    )


def _alter(known: Knowledge, choose: Choose) -> Step | None:
    resource_type, name = ResourceType.MIRROR, _draw_mirror_name(known, choose)
    config = AlterableConfig("mirror.groups.clamp", ConfigOp.SET, choose.pick(("true", "false", "perhaps")))
    resource = AlterConfigsResource(resource_type, name, [config])
    return Step(
        "admin",
        IncrementalAlterConfigsRequest([resource]),
        _ALTER_VERSION,
        _draw_broker(known, _draw_cluster(choose), choose),
    )


def _describe(known: Knowledge, choose: Choose) -> Step | None:
    request = DescribeMirrorsRequest(mirror_names=[_draw_mirror_name(known, choose)])
    return Step("admin", request, 0, _draw_broker(known, _draw_cluster(choose), choose))


def _read_states(known: Knowledge, choose: Choose) -> Step | None:
    return read_states_step(known, _draw_broker(known, _draw_cluster(choose), choose))


def read_states_step(known: Knowledge, broker: str) -> Step:
    rows = [reading.TopicData(known.topic, [reading.PartitionData(0)])]
    step = Step("broker", ReadMirrorStatesRequest(known.mirror, rows), 0, broker)
    if broker[0] in known.persisted:
        known.epochs_before[step] = known.persisted[broker[0]].leader_epoch
    return step


def former_leader_write(known: Knowledge, persisted: Persisted, state: int) -> Step:
    """Return the write of a leader before the last writer; no coordinator may accept it (D9)."""
    row = writing.PartitionData(partition_index=0, state=state, leader_epoch=persisted.leader_epoch - 1)
    return _write_step(known.mirror, known, row, known.topic_id, persisted.broker)


def _write_step(mirror: str, known: Knowledge, row: writing.PartitionData, topic_id: Uuid, broker: str) -> Step:
    rows = [writing.TopicData(name=known.topic, partitions=[row], topic_id=topic_id)]
    return Step("broker", WriteMirrorStatesRequest(mirror, rows), 0, broker)


def former_leader_states(persisted: Persisted | None) -> tuple[int, ...]:
    """Return the states that a former leader may try to write, none while there is no former leader."""
    if persisted is None or persisted.leader_epoch < 1:
        return ()
    # The same state again is valid for the current leader; UNKNOWN for none.
    return (NO_STATE, persisted.state) if persisted.state in _INVALID_FIRST_STATES else (NO_STATE,)


def _write_state(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a write that no coordinator may accept: of a missing mirror or topic, a wrong state, or an old leader."""
    cluster = _draw_cluster(choose)
    name, row, topic_id = known.mirror, writing.PartitionData(partition_index=0, state=NO_STATE), known.topic_id
    persisted = known.persisted.get(cluster)
    states = former_leader_states(persisted)
    broker = _draw_broker(known, cluster, choose) if persisted is None else persisted.broker
    match choose.pick(("mirror", "id", "state", *(("epoch",) * 12 if states else ()))):
        case "mirror":
            name = f"{name}-absent"
        case "id":
            topic_id = Uuid.from_ints(7, 7)
        case "state":
            row.state = WRONG_STATE
        case _:
            assert persisted is not None, "there was a former leader"
            return former_leader_write(known, persisted, choose.pick(states))
    return _write_step(name, known, row, topic_id, broker)


def _bump(known: Knowledge, choose: Choose) -> Step | None:
    cluster = _draw_cluster(choose)
    if not known.moves_time:
        return None  # Only a simulated controller is reachable.
    row = LeaderEpochState(partition_index=0, min_leader_epoch=choose.pick((0, 1, 2, 3, EPOCH_TOO_HIGH)))
    topic_id = choose.pick((known.topic_id, known.topic_id, known.topic_id, Uuid.from_ints(7, 7)))
    return Step("broker", BumpLeaderEpochsRequest([TopicState(topic_id, [row])]), 0, cluster + CONTROLLER)


def _more_partitions(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a change that is refused for one of several reasons: the topic already has that one partition."""
    request = CreatePartitionsRequest([CreatePartitionsTopic(known.topic, 1)], timeout_ms=10_000)
    return Step("admin", request, 1, _draw_broker(known, _draw_cluster(choose), choose))


def _produce(known: Knowledge, choose: Choose) -> Step | None:
    if known.values >= _BATCHES_MAX:
        return None
    return produce_step(known, _draw_broker(known, choose.pick(CLUSTERS), choose))


def produce_step(known: Knowledge, broker: str) -> Step:
    known.values += 1
    data = PartitionProduceData(index=0, records=build_batch([RecordData(value=f"value {known.values}".encode())]))
    rows = [TopicProduceData(name=known.topic, partition_data=[data])]
    return Step("producer", ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=rows), _PRODUCE_VERSION, broker)


def _fetch(known: Knowledge, choose: Choose) -> Step | None:
    return fetch_step(known, _draw_broker(known, _draw_cluster(choose), choose))


def fetch_step(known: Knowledge, broker: str) -> Step:
    row = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic=known.topic, partitions=[row])])
    return Step("consumer", request, _FETCH_VERSION, broker)


def _wait(known: Knowledge, choose: Choose) -> Pause | None:
    return Pause(choose.pick((1, 2, 10, LONG_S))) if known.moves_time else None


NEXT_ORDERS: Mapping[str, Callable[[Knowledge, Choose, str], Step | None]] = {
    "": lambda known, choose, cluster: _create(known, choose, cluster),
    "DeleteMirror": lambda known, choose, cluster: _create(known, choose, cluster),
    "CreateMirror": lambda known, choose, cluster: _add(known, choose, cluster),
    "AddTopicsToMirror": lambda known, choose, cluster: choose.pick((_pause, _remove))(known, choose, cluster),
    "PauseMirrorTopics": lambda known, choose, cluster: choose.pick((_resume, _remove))(known, choose, cluster),
    "ResumeMirrorTopics": lambda known, choose, cluster: _remove(known, choose, cluster),
    "RemoveTopicsFromMirror": lambda known, choose, cluster: choose.pick((_add, _delete))(known, choose, cluster),
}
"""Next orders of users in a cluster, by the last order."""


def _next_order(known: Knowledge, choose: Choose) -> Step | None:
    """Draw the next order of the usual workflow: mirror, failover, failback."""
    last_orders = known.last_orders
    if last_orders["b"] == "RemoveTopicsFromMirror":  # Failback.
        cluster = choose.pick(("a", "a", "b"))
    else:
        cluster = choose.pick(("a", "b", "b")) if last_orders["a"] not in ("", "DeleteMirror") else "b"
    return NEXT_ORDERS[last_orders[cluster]](known, choose, cluster)


RULES = (
    Rule("continue", 10, _next_order),
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
