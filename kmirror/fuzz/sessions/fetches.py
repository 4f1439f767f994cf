"""Rule machine of fetch sessions (KIP-227): several fetchers, records between their fetches, epochs and ids of any age.

Requests are drawn from earlier responses; `fetch_model.py` is the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.sessions.fetch_model import (
    FINAL,
    FULL,
    LAST_EPOCH_FROM,
    LOG_START_FROM,
    NO_EPOCH,
    SESSIONS_FROM,
    TOPIC_IDS_FROM,
    WIDE,
    Broker,
    Log,
    Partition,
    Phase,
    end_wait,
    fetch_outcomes,
    may_end_wait,
    row_order,
    wake_outcomes,
)
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import Call, Choose, Names, OneOf, Outcome, Rule, Step, World, expected
from kmirror.fuzz.sessions.preparing import simulated_broker
from kmirror.fuzz.sessions.tables import Table
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kmirror.protocol.gen.delete_records_response import DeleteRecordsResponse
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.delete_topics_response import DeleteTopicsResponse
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch, TornBatch, iter_batches
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

SLOTS = "max.incremental.fetch.session.cache.slots"
FEW_SLOTS = 2
_TOPICS = (("a", 2), ("b", 1), ("c", 1))
_DELETED = "c"
_FETCH_VERSIONS = tuple(range(4, 19))
_PRODUCE_VERSION, _CREATE_VERSION, _METADATA_VERSION, _CONFIGS_VERSION = 9, 7, 12, 4
_TRIES_MAX = 500
_SESSIONS_MAX = 6
_WAIT_MS = 60_000
_RECORDS_MAX = 3
_IDS_BELOW = 1 << 27  # Kafka 4.3.1 fails for ids that no shard of its cache has, such as 2**31 - 1.
_FAR_OFFSET = 1_000
_ABSENT = 7
"""A partition index that no topic has."""
_TOPIC_DELETED = OneOf(frozenset({int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.NOT_LEADER_OR_FOLLOWER)}))


@dataclass
class Topic:
    """A topic in the knowledge of the clients."""

    name: str
    topic_id: Uuid
    partition_count: int


@dataclass
class ClientSession:
    """A session in the knowledge of its fetcher."""

    session_id: int
    by_id: bool
    epoch: int = 1
    """Epoch of the next request."""
    partitions: dict[Partition, None] = field(default_factory=dict)


@dataclass
class Knowledge:
    """Knowledge of the clients."""

    topics: list[Topic]
    sessions: dict[int, ClientSession] = field(default_factory=dict)
    ends: dict[Partition, int] = field(default_factory=dict)
    starts: dict[Partition, int] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)
    values: int = 0
    """Number of produced values, each of them unique."""

    def partitions(self) -> list[Partition]:
        """Return all partitions, including deleted ones."""
        return [(topic.name, index) for topic in self.topics for index in range(topic.partition_count)]

    def topic(self, name: str) -> Topic:
        """Return a topic."""
        return next(topic for topic in self.topics if topic.name == name)


# -- requests -----------------------------------------------------------------------------------


def _draw_partition(known: Knowledge, partition: Partition, version: int, choose: Choose) -> FetchPartition:
    start, end = known.starts.get(partition, 0), known.ends.get(partition, 0)
    if choose.chance(0.1):
        offset = choose.pick((-1, start - 1, end + 1, end + _FAR_OFFSET))
    else:
        offset = choose.pick((start, end, end, (start + end) // 2))
    max_bytes = choose.pick((1, 0, 100, 200)) if choose.chance(0.15) else WIDE
    leader_epoch = choose.pick((0, 0, 1, 5)) if choose.chance(0.3) else NO_EPOCH
    last_epoch = choose.pick((0, 0, 0, 3)) if version >= LAST_EPOCH_FROM and choose.chance(0.2) else NO_EPOCH
    return FetchPartition(
        partition=partition[1],
        current_leader_epoch=leader_epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        log_start_offset=-1,
        partition_max_bytes=max_bytes,
    )


def _draw_partitions(partitions: Sequence[Partition], max_count: int, choose: Choose) -> list[Partition]:
    found: dict[Partition, None] = {}
    for _ in range(choose.pick(range(1, max_count + 1))):
        found[choose.pick(partitions)] = None
    return list(found)


def _draw_topics(known: Knowledge, partitions: Iterable[Partition], version: int, choose: Choose) -> list[FetchTopic]:
    topics: dict[str, FetchTopic] = {}
    for partition in partitions:
        topic = topics.setdefault(
            partition[0], FetchTopic(topic=partition[0], topic_id=known.topic(partition[0]).topic_id)
        )
        topic.partitions.append(_draw_partition(known, partition, version, choose))
        if choose.chance(0.05):
            topic.partitions.append(_draw_partition(known, partition, version, choose))  # Named twice: the last counts.
        if choose.chance(0.05):
            topic.partitions.append(FetchPartition(partition=_ABSENT, partition_max_bytes=WIDE))
    if choose.chance(0.1):
        absent = FetchTopic(topic="absent", topic_id=Uuid.from_ints(5, 7))
        absent.partitions.append(FetchPartition(partition=0, partition_max_bytes=WIDE))
        topics["absent"] = absent
    return list(topics.values())


def _draw_request(topics: list[FetchTopic], choose: Choose, *, may_block: bool = False) -> FetchRequest:
    max_bytes = choose.pick((0, 1)) if choose.chance(0.1) else WIDE
    request = FetchRequest(min_bytes=1, max_bytes=max_bytes, isolation_level=choose.pick((0, 1)), topics=topics)
    is_limited = max_bytes < WIDE or any(row.partition_max_bytes < WIDE for topic in topics for row in topic.partitions)
    if may_block and not is_limited and choose.chance(0.4):
        request.max_wait_ms = _WAIT_MS
        request.min_bytes = choose.pick((1, 1, WIDE))
    return request


def _draw_version(choose: Choose, first: int, *, by_id: bool | None = None) -> int:
    found = [
        version
        for version in _FETCH_VERSIONS
        if version >= first and (by_id is None or (version >= TOPIC_IDS_FROM) == by_id)
    ]
    return choose.pick(found)


def _open_session(known: Knowledge, choose: Choose) -> Step | None:
    if len(known.sessions) >= _SESSIONS_MAX:
        return None
    version = _draw_version(choose, SESSIONS_FROM)
    request = _draw_request(
        _draw_topics(known, _draw_partitions(known.partitions(), 4, choose), version, choose), choose
    )
    request.session_epoch = FULL
    if known.sessions and choose.chance(0.3):
        request.session_id = choose.pick(list(known.sessions))
    return Step("fetcher", request, version)


def _fetch_next(known: Knowledge, choose: Choose) -> Step | None:
    if not known.sessions:
        return None
    session = known.sessions[choose.pick(list(known.sessions))]
    version = _draw_version(choose, SESSIONS_FROM, by_id=session.by_id)
    has_names = choose.chance(0.5)
    partitions = list(session.partitions) if session.partitions and choose.chance(0.6) else known.partitions()
    topics = _draw_topics(known, _draw_partitions(partitions, 2, choose), version, choose) if has_names else []
    request = _draw_request(topics, choose, may_block=True)
    request.session_id, request.session_epoch = session.session_id, session.epoch
    if session.partitions and choose.chance(0.25):
        for name, index in _draw_partitions(list(session.partitions), 2, choose):
            topic_id = known.topic(name).topic_id
            request.forgotten_topics_data.append(ForgottenTopic(topic=name, topic_id=topic_id, partitions=[index]))
    return Step("fetcher", request, version)


def _send_invalid(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a request with an epoch, an id or a kind of topic names that does not fit its session."""
    if not known.sessions:
        return None
    session = known.sessions[choose.pick(list(known.sessions))]
    request = _draw_request([], choose)
    request.session_id, request.session_epoch = session.session_id, session.epoch
    by_id = session.by_id
    match choose.pick(("epoch", "epoch", "id", "names")):
        case "epoch":
            request.session_epoch = choose.pick((max(1, session.epoch - 1), session.epoch + 1, 0x7FFFFFFF, -2))
        case "id":
            request.session_id = choose.pick((choose.pick(range(1, _IDS_BELOW)), *known.closed[-3:]))
        case _:
            by_id = not by_id
    return Step("fetcher", request, _draw_version(choose, SESSIONS_FROM, by_id=by_id))


def _close_session(known: Knowledge, choose: Choose) -> Step | None:
    if not known.sessions:
        return None
    session = known.sessions[choose.pick(list(known.sessions))]
    version = _draw_version(choose, SESSIONS_FROM)
    topics = (
        _draw_topics(known, _draw_partitions(known.partitions(), 2, choose), version, choose)
        if choose.chance(0.5)
        else []
    )
    request = _draw_request(topics, choose)
    request.session_id, request.session_epoch = session.session_id, FINAL
    return Step("fetcher", request, version)


def _fetch_without_session(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a fetch without a session."""
    version = _draw_version(choose, min(_FETCH_VERSIONS))
    request = _draw_request(
        _draw_topics(known, _draw_partitions(known.partitions(), 3, choose), version, choose), choose, may_block=True
    )
    return Step("fetcher", request, version)


def _produce(known: Knowledge, choose: Choose) -> Step | None:
    name, index = choose.pick(known.partitions())
    values = []
    for _ in range(choose.pick(range(1, _RECORDS_MAX + 1))):
        known.values += 1
        values.append(RecordData(value=f"value {known.values}".encode()))
    return Step("producer", _produce_request(name, index, build_batch(values)), _PRODUCE_VERSION)


def _produce_request(name: str, index: int, records: bytes) -> ProduceRequest:
    data = PartitionProduceData(index=index, records=records)
    return ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData(name=name, partition_data=[data])])


def _delete_records(known: Knowledge, choose: Choose) -> Step | None:
    partition = choose.pick(known.partitions())
    start, end = known.starts.get(partition, 0), known.ends.get(partition, 0)
    row = DeleteRecordsPartition(
        partition_index=partition[1], offset=choose.pick((start, start + 1, end, -1, end + _FAR_OFFSET))
    )
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=partition[0], partitions=[row])], timeout_ms=10_000)
    return Step("admin", request, choose.pick((0, 1, 2)))


def _delete_topic(known: Knowledge, choose: Choose) -> Step | None:
    name = next(topic.name for topic in known.topics if topic.name.endswith(_DELETED))
    return Step("admin", DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000), 5)


# -- the machine --------------------------------------------------------------------------------


class Fetches:
    """Fetch sessions with a broker that leads all partitions."""

    name = "fetches"
    stale_fields = frozenset({"session_id"})
    rules = (
        Rule("open", 4, _open_session),
        Rule("continue", 12, _fetch_next),
        Rule("wrong", 3, _send_invalid),
        Rule("close", 1, _close_session),
        Rule("alone", 2, _fetch_without_session),
        Rule("produce", 6, _produce),
        Rule("delete records", 1, _delete_records),
        Rule("delete a topic", 1, _delete_topic),
    )

    def begin(self, world: World) -> tuple[Knowledge, Broker]:
        """Create the topics, wait until they accept records, and read the number of session slots."""
        names = {f"{world.prefix}-{name}": count for name, count in _TOPICS}
        topics = [CreatableTopic(name=name, num_partitions=n, replication_factor=1) for name, n in names.items()]
        created = world.ask(CreateTopicsRequest(topics=topics, timeout_ms=10_000), _CREATE_VERSION)
        assert isinstance(created, CreateTopicsResponse)
        known = Knowledge([Topic(row.name, row.topic_id, names[row.name]) for row in created.topics])
        known.topics.sort(key=lambda topic: topic.name)
        logs: dict[Partition, Log] = {}
        for partition in known.partitions():
            batch = build_batch([RecordData(value=f"first of {partition}".encode())])
            _write_until_accepted(world, _produce_request(*partition, batch))
            logs[partition] = Log().append(1, len(batch), Batch(batch).crc)
            known.ends[partition] = 1
        ids = {topic.topic_id: topic.name for topic in known.topics}
        phases = {topic.name: Phase() for topic in known.topics}
        slots = _read_slots(world, known.topics[0].name)
        return known, Broker(Table(ids), Table(logs), Table(phases), Table(), (), slots)

    def outcomes(self, state: Broker, call: Call, names: Names) -> Iterable[Outcome[Broker]]:
        """Yield the possible outcomes of a request."""
        assert isinstance(call.step, Step), "there are no pauses"
        match call.step.body:
            case FetchRequest():
                yield from fetch_outcomes(state, call, names)
            case ProduceRequest() as request:
                yield from _produce_outcomes(state, call, request)
            case DeleteRecordsRequest() as request:
                yield _delete_records_outcome(state, call, request)
            case DeleteTopicsRequest() as request:
                yield _delete_topic_outcome(state, call, request)

    def autonomous_outcomes(self, state: Broker) -> Iterable[Outcome[Broker]]:
        """Yield the outcomes of a deletion that reaches the broker, and of a wait that ends."""
        for name, phase in state.phases.items():
            if phase.is_deleted and not phase.is_applied:
                yield Outcome(replace(state, phases=state.phases.put(name, Phase(True, True))), {})
        for one in state.waiting:
            if may_end_wait(state, one):
                for after, responses in end_wait(state, one):
                    yield Outcome(
                        after, {number: replace(allowed, is_optional=True) for number, allowed in responses.items()}
                    )

    def read(self, known: Knowledge, step: Step, response: Message) -> Mapping[str, Any]:
        """Return the compared values of a response; raises `Fault` for invalid records."""
        match response:
            case FetchResponse():
                rows = [
                    _observed_row(topic.topic_id if step.version >= TOPIC_IDS_FROM else topic.topic, row, step.version)
                    for topic in response.responses
                    for row in topic.partitions
                ]
                rows.sort(key=lambda row: row_order(row[0]))
                return {"error": response.error_code, "session": response.session_id, "rows": tuple(rows)}
            case ProduceResponse():
                produced = response.responses[0].partition_responses[0]
                return {"error": produced.error_code, "base": produced.base_offset}
            case DeleteRecordsResponse():
                deleted = response.topics[0].partitions[0]
                return {"error": deleted.error_code, "low": deleted.low_watermark}
            case DeleteTopicsResponse():
                return {"error": response.responses[0].error_code}
            case _:
                raise AssertionError(f"not requested: {response!r}")

    def learn(self, known: Knowledge, step: Step, response: Message) -> None:
        """Record sessions, log start offsets and LEOs."""
        match step.body, response:
            case FetchRequest() as request, FetchResponse():
                _learn_session(known, step, request, response)
                _learn_offsets(known, response)
            case ProduceRequest() as request, ProduceResponse():
                topic, produced = request.topic_data[0], response.responses[0].partition_responses[0]
                partition = (topic.name, produced.index)
                if not produced.error_code:
                    count = Batch(bytes(topic.partition_data[0].records or b"")).record_count
                    known.ends[partition] = max(known.ends.get(partition, 0), produced.base_offset + count)
            case DeleteRecordsRequest(), DeleteRecordsResponse():
                deleted = response.topics[0].partitions[0]
                partition = (response.topics[0].name, deleted.partition_index)
                known.starts[partition] = max(known.starts.get(partition, 0), deleted.low_watermark)
            case _:
                pass

    def last_steps(self, known: Knowledge) -> Iterator[Step]:
        """Yield a fetch of everything, the end of every session, and the deletion of the topics."""
        topics = [
            FetchTopic(
                topic=topic.name,
                partitions=[
                    FetchPartition(
                        partition=index,
                        fetch_offset=known.starts.get((topic.name, index), 0),
                        partition_max_bytes=WIDE,
                    )
                    for index in range(topic.partition_count)
                ],
            )
            for topic in known.topics
        ]
        yield Step("fetcher", FetchRequest(max_bytes=WIDE, topics=topics), TOPIC_IDS_FROM - 1)
        for session_id in list(known.sessions):
            yield Step("fetcher", FetchRequest(session_id=session_id, session_epoch=FINAL), SESSIONS_FROM)
        for topic in known.topics:
            yield Step("admin", DeleteTopicsRequest(topic_names=[topic.name], timeout_ms=10_000), 5)


MACHINE = Fetches()


def open_simulated_link(seed: int, choose: Choose) -> SimulatedLink:
    """Return a kmirror broker; half of them have few session slots."""
    configs = {SLOTS: str(FEW_SLOTS)} if choose.chance(0.5) else {}
    return simulated_broker(seed, configs)


def _write_until_accepted(world: World, request: ProduceRequest) -> None:
    for _ in range(_TRIES_MAX):
        response = world.ask(request, _PRODUCE_VERSION)
        assert isinstance(response, ProduceResponse)
        error = response.responses[0].partition_responses[0].error_code
        if not error:
            return
        world.wait_briefly()
    raise Fault(FaultKind.SILENT, f"a new topic takes no records: {error}", "Produce before a session", "records taken")


def _read_slots(world: World, topic: str) -> int:
    """Return the number of session slots of the broker."""
    described = world.ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), _METADATA_VERSION)
    assert isinstance(described, MetadataResponse)
    leader = described.topics[0].partitions[0].leader_id
    resource = DescribeConfigsResource(
        resource_type=int(ResourceType.BROKER), resource_name=str(leader), configuration_keys=[SLOTS]
    )
    response = world.ask(DescribeConfigsRequest(resources=[resource]), _CONFIGS_VERSION)
    assert isinstance(response, DescribeConfigsResponse)
    return int(response.results[0].configs[0].value or 0)


# -- other requests -----------------------------------------------------------------------------


def _produce_outcomes(state: Broker, call: Call, request: ProduceRequest) -> Iterator[Outcome[Broker]]:
    topic = request.topic_data[0]
    data = topic.partition_data[0]
    partition = (topic.name, data.index)
    if state.phases[topic.name].is_applied:
        yield Outcome(state, {call.number: expected(error=_TOPIC_DELETED, base=-1)})
        return
    batch = Batch(bytes(data.records or b""))
    log = state.logs[partition]
    appended = log.append(batch.record_count, len(data.records or b""), batch.crc)
    after = replace(state, logs=state.logs.put(partition, appended))
    for last, responses in wake_outcomes(after):
        yield Outcome(last, {**responses, call.number: expected(error=0, base=log.end)})


def _delete_records_outcome(state: Broker, call: Call, request: DeleteRecordsRequest) -> Outcome[Broker]:
    topic = request.topics[0]
    partition = (topic.name, topic.partitions[0].partition_index)
    if state.phases[topic.name].is_applied:
        return Outcome(state, {call.number: expected(error=_TOPIC_DELETED, low=-1)})
    log, offset = state.logs[partition], topic.partitions[0].offset
    if offset == -1:
        offset = log.end
    if not 0 <= offset <= log.end:
        return Outcome(state, {call.number: expected(error=int(ErrorCode.OFFSET_OUT_OF_RANGE), low=-1)})
    start = max(log.start, offset)
    left = tuple(batch for batch in log.batches if batch.base + batch.records > start)
    after = replace(state, logs=state.logs.put(partition, replace(log, start=start, batches=left)))
    return Outcome(after, {call.number: expected(error=0, low=start)})


def _delete_topic_outcome(state: Broker, call: Call, request: DeleteTopicsRequest) -> Outcome[Broker]:
    name = request.topic_names[0]
    if state.phases[name].is_deleted:
        error = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return Outcome(state, {call.number: expected(error=error)})
    after = replace(state, phases=state.phases.put(name, Phase(True, False)))
    return Outcome(after, {call.number: expected(error=0)})


# -- responses ----------------------------------------------------------------------------------


def _observed_row(topic: str | Uuid, row: PartitionData, version: int) -> tuple[Any, ...]:
    divergence = row.diverging_epoch
    start = row.log_start_offset if version >= LOG_START_FROM else -1
    return (
        (topic, row.partition_index),
        row.error_code,
        row.high_watermark,
        row.last_stable_offset,
        start,
        None if divergence.end_offset == -1 else (divergence.epoch, divergence.end_offset),
        batches_in(row),
    )


def batches_in(row: PartitionData) -> tuple[tuple[int, int], ...]:
    """Return base offset and checksum of the whole batches of a row; raises `Fault` for invalid bytes."""
    found: list[tuple[int, int]] = []
    try:
        for batch in iter_batches(row.records or b"", check_crc=True):
            found.append((batch.base_offset, batch.crc))
    except TornBatch:
        pass  # A limit may cut the last one.
    except CorruptBatch as error:
        text = f"records of partition {row.partition_index}: {error}"
        raise Fault(FaultKind.DIFFERS, text, "records that are none", "batches as they were produced") from None
    return tuple(found)


def _learn_session(known: Knowledge, step: Step, request: FetchRequest, response: FetchResponse) -> None:
    if step.version < SESSIONS_FROM:
        return
    session = known.sessions.get(request.session_id)
    if request.session_epoch in (FULL, FINAL) or response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        if session is not None:
            del known.sessions[session.session_id]
            known.closed.append(session.session_id)
        if response.session_id and not response.error_code:
            session = known.sessions[response.session_id] = ClientSession(
                response.session_id, step.version >= TOPIC_IDS_FROM
            )
    elif session is not None and not response.error_code:
        if not response.session_id:
            del known.sessions[session.session_id]
            return
        session.epoch = max(session.epoch, request.session_epoch + 1)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.partitions.pop((topic.topic, index), None)
    if session is not None and not response.error_code:
        names = {topic.name for topic in known.topics}
        for named in request.topics:
            if named.topic in names:
                session.partitions.update({(named.topic, row.partition): None for row in named.partitions})


def _learn_offsets(known: Knowledge, response: FetchResponse) -> None:
    names = {topic.topic_id: topic.name for topic in known.topics}
    for topic in response.responses:
        name = topic.topic or names.get(topic.topic_id, "")
        for row in topic.partitions:
            partition = (name, row.partition_index)
            if not row.error_code and partition in known.ends:
                known.ends[partition] = max(known.ends[partition], row.high_watermark)
