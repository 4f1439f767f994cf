"""Hooks in a cluster: responses to clients, effects in the broker, and their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import UsageError
from kmirror.hooks.hooks import Hooks
from kmirror.hooks.received import ReceivedRequest
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.releases import RELEASES, last_version
from tests.sim.stage import ONE_BROKER

PARTITIONS = 10
X = ErrorCode.KAFKA_STORAGE_ERROR
TP = TopicPartition("orders", 3)


class Wire:
    """A client that sends without waiting, and records responses: correlation ids, -1 for a closed link."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.world = cluster.simulation.world
        self.responses: dict[int, Message] = {}
        self.order: list[int] = []
        self._sent: dict[int, tuple[int, int]] = {}
        self.world.add("wire", cluster.name, lambda: self)
        self.world.start("wire")

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, LinkClosed):
            self.order.append(-1)
        elif isinstance(event, ResponseReceived):
            correlation_id = int.from_bytes(event.frame[:4], "big")
            self.order.append(correlation_id)
            response = decode_response(event.frame, *self._sent[correlation_id])
            self.responses[correlation_id] = response.body
        return []

    def send(
        self, body: Message, version: int, *, channel: str = "c", node: int = 1, client_id: str | None = "test"
    ) -> int:
        """Send, and return the correlation id."""
        number = len(self._sent) + 1
        self._sent[number] = (key_of(type(body)), version)
        frame = encode_request(body, version, correlation_id=number, client_id=client_id)
        link = OutboundLink(self.cluster.endpoint(node), channel)
        self.world.perform("wire", [Send(link, (frame,))])
        return number

    def ask(self, body: Message, version: int, *, within_ms: float = 100, node: int = 1) -> Message | None:
        """Send, let some time pass, and return the response; None if there is none."""
        number = self.send(body, version, node=node)
        self.run(within_ms)
        return self.responses.get(number)

    def run(self, ms: float) -> None:
        self.cluster.simulation.run_for(span_s=ms / 1000)


class Stage:
    def __init__(self, hooks: Hooks, cluster: Cluster) -> None:
        self.hooks = hooks
        self.cluster = cluster
        self.wire = Wire(cluster)

    def end(self, partition: int = 3, topic: str = "orders") -> int:
        leader = self.cluster.leader(TopicPartition(topic, partition))
        assert leader is not None
        return leader.log.log_end_offset


@pytest.fixture
def stage() -> Iterator[Stage]:
    hooks = Hooks()
    with Simulation(5) as simulation, Cluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks) as a:
        a.create_topic("orders", PARTITIONS)
        yield Stage(hooks, a)


def produce(partitions: Any = (3,), *, acks: int = -1, topic_id: Any = None) -> ProduceRequest:
    data = [PartitionProduceData(index=index, records=build_batch([RecordData(value=b"v")])) for index in partitions]
    named = {"name": "orders"} if topic_id is None else {"topic_id": topic_id}
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(partition_data=data, **named)])


def codes(response: Message | None) -> dict[int, int]:
    """Return the error of each partition in a response to Produce, Fetch or ListOffsets."""
    assert isinstance(response, ProduceResponse | FetchResponse | ListOffsetsResponse)
    if isinstance(response, ProduceResponse):
        return {row.index: row.error_code for topic in response.responses for row in topic.partition_responses}
    topics: list[Any] = response.responses if isinstance(response, FetchResponse) else response.topics
    return {row.partition_index: row.error_code for topic in topics for row in topic.partitions}


# -- nothing hooked ---------------------------------------------------------------------------


def test_hooks_that_do_nothing_change_nothing() -> None:
    """Not even the order of events: the digest is that of a run without hooks."""
    digests = []
    for hooks in (None, Hooks()):
        with Simulation(11) as simulation, Cluster(simulation, "a", interpose=hooks) as a:
            a.create_topic("orders", 3)
            for number in range(9):
                a.produce("orders", number % 3, [b"v"])
            a.kill(1)
            simulation.run_for(span_s=20)
            a.restart(1)
            simulation.run_for(span_s=5)
            assert len(a.read(TopicPartition("orders", 0))) == 3
            digests.append(simulation.digest)
    assert digests[0] == digests[1]


def test_the_cluster_still_finds_its_nodes(stage: Stage) -> None:
    assert stage.cluster.controller.context.node_id == CONTROLLER_ID
    assert stage.cluster.broker(1).context.node_id == 1
    assert stage.cluster.leader(TP) is not None


# -- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [3, 8, 12, 13])
def test_two_of_ten_partitions_are_refused_and_the_others_written(stage: Stage, version: int) -> None:
    first = stage.hooks.on(ProduceRequest, topic="orders", partition=3).answer(X, "broken")
    second = stage.hooks.on(ProduceRequest, topic="orders", partition=7).answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    topic_id = stage.cluster.image.topics["orders"].topic_id if version >= 13 else None
    response = stage.wire.ask(produce(range(PARTITIONS), topic_id=topic_id), version)
    assert codes(response) == {**dict.fromkeys(range(PARTITIONS), 0), 3: X, 7: ErrorCode.NOT_LEADER_OR_FOLLOWER}
    assert [stage.end(index) for index in range(PARTITIONS)] == [1, 1, 1, 0, 1, 1, 1, 0, 1, 1]
    assert (first.count, second.count) == (1, 1)
    assert isinstance(response, ProduceResponse)
    refused = [row for topic in response.responses for row in topic.partition_responses if row.index == 3]
    assert [(row.base_offset, row.log_append_time_ms) for row in refused] == [(-1, -1)]
    if version >= 8:
        assert refused[0].error_message == "broken"
    assert len(response.responses) == 1, "one element for the topic"


def test_a_hook_for_all_of_a_request_needs_no_broker(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).answer(X)
    assert codes(stage.wire.ask(produce([3, 4]), 9)) == {3: X, 4: X}
    assert codes(stage.wire.ask(produce([3, 4]), 9)) == {3: 0, 4: 0}
    assert stage.end(3) == 1


def test_errors_of_a_sequence_of_hooks_come_one_after_the_other(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).answer(X)
    stage.hooks.on(ProduceRequest, times=2).answer(ErrorCode.REQUEST_TIMED_OUT)
    found = [codes(stage.wire.ask(produce(), 9))[3] for _ in range(4)]
    assert found == [X, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT, 0]


def test_the_first_of_two_hooks_decides_about_a_row_and_the_second_about_the_rest(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, topic="orders", partition=3).answer(X)
    rest = stage.hooks.on(ProduceRequest).answer(ErrorCode.INVALID_RECORD)
    assert codes(stage.wire.ask(produce([2, 3]), 9)) == {2: ErrorCode.INVALID_RECORD, 3: X}
    assert codes(stage.wire.ask(produce([3]), 9)) == {3: X}
    assert rest.count == 1, "nothing was left for it of the second request"


def test_apply_then_returns_an_error_for_a_done_request(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, topic="orders", partition=3, times=1).apply_then(ErrorCode.REQUEST_TIMED_OUT)
    assert codes(stage.wire.ask(produce([3, 4]), 9)) == {3: ErrorCode.REQUEST_TIMED_OUT, 4: 0}
    assert (stage.end(3), stage.end(4)) == (1, 1)
    request = CreateTopicsRequest(topics=[CreatableTopic(name="new", num_partitions=1, replication_factor=1)])
    stage.hooks.on(CreateTopicsRequest).apply_then(ErrorCode.REQUEST_TIMED_OUT, "too slow")
    response = stage.wire.ask(request, 7)
    assert isinstance(response, CreateTopicsResponse)
    assert [(row.error_code, row.error_message) for row in response.topics] == [(7, "too slow")]
    assert "new" in stage.cluster.topics()


def test_respond_answers_with_a_message_or_one_made_for_the_request(stage: Stage) -> None:
    stage.hooks.on(ApiVersionsRequest, times=1).respond(ApiVersionsResponse(error_code=X))
    response = stage.wire.ask(ApiVersionsRequest(), 3)
    assert isinstance(response, ApiVersionsResponse) and response.error_code == X
    stage.hooks.on(ApiVersionsRequest, times=1).respond(lambda r: ApiVersionsResponse(throttle_time_ms=r.version))
    response = stage.wire.ask(ApiVersionsRequest(), 2)
    assert isinstance(response, ApiVersionsResponse) and response.throttle_time_ms == 2
    stage.hooks.on(ApiVersionsRequest).respond(ProduceResponse())
    with pytest.raises(UsageError, match="ApiVersionsRequest with a ApiVersionsResponse"):
        stage.wire.ask(ApiVersionsRequest(), 2)


def test_metadata_has_brokers_although_every_topic_has_an_error(stage: Stage) -> None:
    stage.cluster.create_topic("other")
    stage.hooks.on(MetadataRequest, topic="orders").answer(ErrorCode.LEADER_NOT_AVAILABLE)
    for topics in (None, [MetadataRequestTopic(name="orders")]):
        response = stage.wire.ask(MetadataRequest(topics=topics), 9)
        assert isinstance(response, MetadataResponse)
        found = {row.name: row.error_code for row in response.topics}
        assert found["orders"] == ErrorCode.LEADER_NOT_AVAILABLE
        assert found.get("other", 0) == 0 and ("other" in found) == (topics is None)
        assert [broker.node_id for broker in response.brokers] == [1]
    response = stage.wire.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 0)
    assert isinstance(response, MetadataResponse)
    assert [row.name for row in response.topics] == ["orders"], "without topics version 0 asks for all"


# -- fetches ----------------------------------------------------------------------------------


def fetch(*partitions: int, session: tuple[int, int] = (0, -1), wait_ms: int = 500, offset: int = 0) -> FetchRequest:
    rows = [FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20) for index in partitions]
    topics = [FetchTopic(topic="orders", partitions=rows)] if rows else []
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics,
    )


@pytest.mark.parametrize("version", [4, 11, 12])
def test_an_error_of_a_fetch_is_a_partition_error_without_a_wait(stage: Stage, version: int) -> None:
    stage.hooks.on(FetchRequest, topic="orders", partition=3).answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    response = stage.wire.ask(fetch(3, 4), version, within_ms=50)
    assert codes(response) == {3: ErrorCode.NOT_LEADER_OR_FOLLOWER, 4: 0}
    assert isinstance(response, FetchResponse) and response.error_code == 0


def test_a_partition_of_a_session_has_an_error_although_the_fetch_does_not_name_it(stage: Stage) -> None:
    first = stage.wire.ask(fetch(3, 4, session=(0, 0)), 12, within_ms=600)
    assert isinstance(first, FetchResponse) and first.session_id
    session = first.session_id
    hook = stage.hooks.on(FetchRequest, topic="orders", partition=3, times=1).answer(X)
    assert codes(stage.wire.ask(fetch(session=(session, 1)), 12)) == {3: X}
    assert hook.count == 1
    stage.cluster.produce("orders", 3, [b"one"])
    assert codes(stage.wire.ask(fetch(session=(session, 2)), 12)) == {3: 0}, "the session goes on"


def test_records_displaced_by_an_error_are_in_the_next_fetch(stage: Stage) -> None:
    stage.cluster.produce("orders", 3, [b"one"])
    stage.hooks.on(FetchRequest, topic="orders", partition=3, times=1).answer(X)
    first = stage.wire.ask(fetch(3, 4, session=(0, 0)), 12)
    assert isinstance(first, FetchResponse)
    assert codes(first) == {3: X, 4: 0}
    again = stage.wire.ask(fetch(session=(first.session_id, 1)), 12)
    assert isinstance(again, FetchResponse)
    assert [bool(row.records) for topic in again.responses for row in topic.partitions] == [True]


def test_a_session_error_is_at_the_top_of_the_response(stage: Stage) -> None:
    stage.hooks.on(FetchRequest).answer(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    response = stage.wire.ask(fetch(3), 12)
    assert isinstance(response, FetchResponse) and response.error_code == 70 and not response.responses


# -- time and order ---------------------------------------------------------------------------


def test_requests_behind_a_held_one_wait_and_other_links_do_not(stage: Stage) -> None:
    held = stage.hooks.on(ProduceRequest).hold()
    wire = stage.wire
    first, second = wire.send(produce(), 9), wire.send(ApiVersionsRequest(), 3)
    other = wire.send(ApiVersionsRequest(), 3, channel="d")
    wire.run(1000)
    assert wire.order == [other] and stage.end() == 0
    assert [request.body.NAME for request in held.requests] == ["ProduceRequest"]
    held.release()
    wire.run(20)
    assert wire.order == [other, first, second] and stage.end() == 1
    assert held.requests == []
    assert codes(wire.ask(produce(), 9)) == {3: 0}, "it holds no more"


def test_a_held_request_of_a_link_that_closes_is_never_done(stage: Stage) -> None:
    held = stage.hooks.on(ProduceRequest).hold()
    stage.wire.send(produce(), 9)
    stage.wire.run(10)
    stage.wire.world.kill("wire")
    stage.wire.run(10)
    assert held.requests == []
    held.release()
    stage.wire.run(100)
    assert stage.end() == 0


def test_a_held_request_of_a_node_that_is_killed_is_never_done(stage: Stage) -> None:
    held = stage.hooks.on(ProduceRequest).hold()
    stage.wire.send(produce(), 9)
    stage.wire.run(10)
    stage.cluster.kill(1)
    stage.cluster.restart(1)
    assert held.requests == []
    stage.cluster.simulation.run_until(stage.cluster.is_settled, what="the broker")
    number = stage.wire.send(produce(), 9)
    stage.wire.run(10)
    held.release()
    stage.wire.run(20)
    assert stage.wire.order == [-1, number] and stage.end() == 1


def test_a_delay_blocks_only_its_own_link(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).delay(300)
    wire = stage.wire
    first, second = wire.send(produce(), 9), wire.send(produce(), 9)
    other = wire.send(produce(), 9, channel="d")
    wire.run(299)
    assert wire.order == [other]
    wire.run(20)
    assert wire.order == [other, first, second]


def test_a_request_is_delayed_then_held_then_refused(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).delay(100)
    held = stage.hooks.on(ProduceRequest, times=1).hold()
    stage.hooks.on(ProduceRequest, times=1).answer(X)
    number = stage.wire.send(produce(), 9)
    stage.wire.run(90)
    assert held.requests == []
    stage.wire.run(20)
    assert len(held.requests) == 1
    held.release()
    stage.wire.run(20)
    assert codes(stage.wire.responses[number]) == {3: X}


def test_an_error_does_not_overtake_the_previous_response(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest).answer(X)
    first, second = stage.wire.send(fetch(3), 12), stage.wire.send(produce(), 9)
    stage.wire.run(1000)
    assert stage.wire.order == [first, second]


def test_many_requests_behind_a_held_one_are_not_read(stage: Stage) -> None:
    """They are answered in order after its release."""
    held = stage.hooks.on(ProduceRequest, times=1).hold()
    numbers = [stage.wire.send(produce(), 9) for _ in range(30)]
    stage.wire.run(50)
    held.release()
    stage.wire.run(200)
    assert stage.wire.order == numbers and stage.end() == 30


# -- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("applied", [False, True])
def test_close_ends_the_link_without_a_response(stage: Stage, applied: bool) -> None:
    stage.hooks.on(ProduceRequest, times=1).close(applied=applied)
    stage.wire.send(produce(), 9)
    stage.wire.send(produce(), 9)
    stage.wire.run(100)
    assert stage.wire.order == [-1]
    assert stage.end() == applied, "what came behind it is lost with its link"
    assert codes(stage.wire.ask(produce(), 9)) == {3: 0}


@pytest.mark.parametrize("applied", [False, True])
def test_drop_leaves_the_link_open_and_silent(stage: Stage, applied: bool) -> None:
    stage.hooks.on(ProduceRequest, times=1).drop(applied=applied)
    stage.wire.send(produce(), 9)
    stage.wire.send(produce(), 9)
    stage.wire.run(5000)
    assert stage.wire.order == [] and stage.end() == applied


@pytest.mark.parametrize("applied", [False, True])
def test_an_error_for_a_produce_without_acks_closes_its_link(stage: Stage, applied: bool) -> None:
    on = stage.hooks.on(ProduceRequest, topic="orders", partition=3, times=1)
    (on.apply_then if applied else on.answer)(X)
    stage.wire.send(produce([3, 4], acks=0), 9)
    stage.wire.run(100)
    assert stage.wire.order == [-1]
    assert (stage.end(3), stage.end(4)) == (int(applied), 1)


def test_requests_after_a_produce_without_acks_are_served(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).delay(50)
    stage.wire.send(produce(acks=0), 9)
    number = stage.wire.send(ApiVersionsRequest(), 3)
    stage.wire.run(100)
    assert stage.wire.order == [number] and stage.end() == 1


# -- selection of requests --------------------------------------------------------------------


def test_replication_continues_unless_nodes_are_selected() -> None:
    hooks = Hooks()
    with Simulation(3) as simulation, Cluster(simulation, "a", interpose=hooks) as a:
        a.create_topic("orders")
        hooks.on(FetchRequest).drop()
        assert a.produce("orders", 0, [b"acks=all"]) == 0
        leader = a.leader(TopicPartition("orders", 0))
        assert leader is not None
        hooks.on(FetchRequest, topic="orders", from_nodes=True).close()
        Wire(a).send(produce([0], acks=1), 9, node=leader.broker_id)
        simulation.run_for(span_s=60)
        assert leader.image.isr == (leader.broker_id,)


def test_apis_between_nodes_are_selected_by_default() -> None:
    hooks = Hooks()
    with Simulation(3) as simulation, Cluster(simulation, "a", interpose=hooks) as a:
        seen: list[ReceivedRequest] = []
        with hooks.on(BrokerHeartbeatRequest).watch(seen.append):
            simulation.run_for(span_s=5)
        assert {request.node_id for request in seen} == {CONTROLLER_ID}
        assert {request.client_id for request in seen} == {f"broker-{broker_id}" for broker_id in a.broker_ids}
        count = len(seen)
        simulation.run_for(span_s=5)
        assert len(seen) == count, "the hook ended with its block"


def test_watch_reports_the_requests(stage: Stage) -> None:
    seen: list[ReceivedRequest] = []
    stage.hooks.on(ProduceRequest, node=1, topic="orders", partition=3).watch(seen.append)
    stage.hooks.on(ProduceRequest, node=2).watch(seen.append)
    stage.wire.ask(produce([3]), 9)
    stage.wire.ask(produce([4]), 9)
    assert [(one.version, one.client_id, one.correlation_id) for one in seen] == [(9, "test", 1)]
    assert seen[0].body == produce([3]) and seen[0].client.listener == "PLAINTEXT"


def test_where_and_times_choose(stage: Stage) -> None:
    hook = stage.hooks.on(None, where=lambda request: request.version == 8, times=2).answer(X)
    found = [codes(stage.wire.ask(produce(), version))[3] for version in (9, 8, 9, 8, 8)]
    assert found == [0, X, 0, X, 0] and hook.count == 2


def test_a_probability_is_drawn_from_the_seed() -> None:
    def run(seed: int) -> list[int]:
        hooks = Hooks(seed)
        hooks.on(ProduceRequest, probability=0.3).answer(X)
        with Simulation(5) as simulation, Cluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks) as a:
            a.create_topic("orders", PARTITIONS)
            wire = Wire(a)
            return [codes(wire.ask(produce(), 9, within_ms=5))[3] for _ in range(100)]

    first = run(1)
    assert first == run(1) != run(2)
    assert 15 <= first.count(X) <= 45


def test_clear_ends_all(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, topic="orders", partition=3).hold()
    stage.hooks.cap(ProduceRequest, 5)
    number = stage.wire.send(produce(), 5)
    stage.wire.run(10)
    stage.hooks.clear()
    stage.wire.run(10)
    assert stage.wire.order == [number]
    assert codes(stage.wire.ask(produce(), 9)) == {3: 0}


# -- versions ---------------------------------------------------------------------------------


def offered(stage: Stage) -> dict[int, tuple[int, int]]:
    response = stage.wire.ask(ApiVersionsRequest(), 2)
    assert isinstance(response, ApiVersionsResponse)
    return {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}


def test_a_cap_is_offered_and_kept(stage: Stage) -> None:
    before = offered(stage)
    stage.hooks.cap(ProduceRequest, 7)
    stage.hooks.cap(FetchRequest, 2)
    after = offered(stage)
    assert after[0] == (before[0][0], 7)
    assert 1 not in after, "no version of Fetch is left"
    assert {key: after[key] for key in after if key > 1} == {key: before[key] for key in before if key > 1}
    assert codes(stage.wire.ask(produce(), 7)) == {3: 0}
    assert stage.wire.ask(produce(), 8) is None and stage.wire.order[-1] == -1
    assert stage.cluster.produce("orders", 3, [b"by a client that asks for versions"]) == 1
    stage.hooks.cap(ProduceRequest, None)
    assert codes(stage.wire.ask(produce(), 9)) == {3: 0}


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_is_played(stage: Stage, release: str) -> None:
    served = offered(stage)
    stage.hooks.play(release)
    known = {key: last_version(by_key(key).name, release) for key in served}
    expected = {key: (first, min(last, known[key])) for key, (first, last) in served.items() if first <= known[key]}
    assert offered(stage) == expected
    assert served[0][1] >= expected[0][1] >= 7, "Produce"
    assert (key_of(DescribeClusterRequest) in expected) == (release not in ("2.1", "2.4"))
    assert stage.cluster.produce("orders", 3, [b"v"]) == 0
    assert len(stage.cluster.read(TP)) == 1
    stage.cluster.create_topic("new")


def test_a_release_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match=r"release must be one of 2\.1, .*4\.0, not '1\.0'"):
        Hooks().play("1.0")


def test_a_newer_api_versions_is_answered_in_version_0(stage: Stage) -> None:
    stage.hooks.cap(ApiVersionsRequest, 2)
    number = stage.wire.send(ApiVersionsRequest(), 3)
    stage.wire._sent[number] = (18, 0)
    stage.wire.run(10)
    response = stage.wire.responses[number]
    assert isinstance(response, ApiVersionsResponse) and response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(row.api_key, row.min_version, row.max_version) for row in response.api_keys] == [(18, 0, 2)]
    assert stage.wire.ask(ApiVersionsRequest(), 2) is not None, "the link lives on"


def test_simulated_clients_use_limited_versions() -> None:
    hooks = Hooks()
    with Simulation(5) as simulation, Cluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks) as a:
        hooks.cap(ProduceRequest, 5)
        assert a.client.version(a.endpoint(1), ProduceRequest()) == 5


# -- misuse -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"request": "Fetch"}, "request must be a request class, such as FetchRequest"),
        ({"request": FetchResponse}, "request must be a request class"),
        ({"partition": 1}, "partition needs topic"),
        ({"request": FindCoordinatorRequest, "topic": "t"}, "FindCoordinatorRequest names no topics"),
        ({"request": MetadataRequest, "topic": "t", "partition": 0}, "names topics and no partitions"),
        ({"times": 0}, "times must be an integer from 1 on"),
        ({"probability": 2}, "probability must be a number from 0 to 1"),
        ({"where": 1}, "where must be callable"),
        ({"node": "1"}, "node must be an integer"),
    ],
)
def test_impossible_criteria_of_a_hook_are_refused(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Hooks().on(**arguments)


def test_impossible_actions_of_a_hook_are_refused() -> None:
    hooks = Hooks()
    with pytest.raises(UsageError, match="NONE is not an error"):
        hooks.on().answer(ErrorCode.NONE)
    with pytest.raises(UsageError, match="error must be one of"):
        hooks.on().answer(6)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="number of milliseconds"):
        hooks.on().delay(-1)
    with pytest.raises(UsageError, match="must be callable"):
        hooks.on().respond(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="interpose must be callable"):
        Cluster(Simulation(), "a", interpose=3)  # type: ignore[arg-type]
