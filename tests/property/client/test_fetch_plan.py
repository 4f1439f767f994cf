"""A consumer's plan with incremental updates equals a plan made from scratch."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.client.fetch_plan import FetchPlan
from kmirror.client.positions import Position
from kmirror.client.read_replicas import ReadReplicas
from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from tests.unit.client.script import BOOTSTRAP, BROKERS, Script, metadata

TPS = [TopicPartition(topic, index) for topic in ("a", "b") for index in range(2)]
TP = st.sampled_from(TPS)
MAX_AGE_MS = 1_000
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("move"), TP, st.integers(0, 2)),
        st.tuples(st.just("lose"), TP),
        st.tuples(st.just("lead"), TP, st.integers(1, 3)),
        st.tuples(st.just("doubt"), st.sampled_from(["a", "b"])),
        st.tuples(st.just("believe")),
        st.tuples(st.just("prefer"), TP, st.integers(1, 3)),
        st.tuples(st.just("return"), TP),
        st.tuples(st.just("wait"), st.sampled_from([1, MAX_AGE_MS])),
        st.tuples(st.just("assign"), st.lists(TP, unique=True)),
    ),
    max_size=6,
)
"""Events between two fetches."""


class Reader:
    """A plan, and the leaders' view of it."""

    def __init__(self) -> None:
        script = Script()
        self.cluster = RemoteCluster("me", script.requester, (BOOTSTRAP,), timeout_ms=1_000)
        self.cluster.refresh(0, ["a", "b"])
        script.answer_versions()
        script.answer(metadata({tp: (1 + tp.partition, 0) for tp in TPS}))
        self.replicas = ReadReplicas(self.cluster, "rack", MAX_AGE_MS)
        self.plan = FetchPlan(self.cluster, 1_000, self.replicas)
        self.plan.positions.update({tp: Position(0) for tp in TPS})
        self.plan.assign(TPS)
        self.epoch = 0
        self.now = 0
        self.preferred: dict[TopicPartition, tuple[int, int, RemoteLeader | None]] = {}
        """Broker, time, leader."""
        self.told: dict[Endpoint, dict[TopicPartition, int]] = {}

    def step(self, what: str, *how: object) -> None:
        plan = self.plan
        match what, how:
            case "move", (TopicPartition() as tp, int(offset)):
                plan.positions[tp] = Position(offset)
            case "lose", (TopicPartition() as tp,):
                plan.positions.pop(tp, None)
            case "lead", (TopicPartition() as tp, int(broker_id)):
                self.epoch += 1
                self.cluster.record_leader(tp, broker_id, self.epoch)  # The address of broker 3 is unknown.
                plan.recheck_all()
            case "doubt", (str(topic),):
                plan.mark_stale([topic])
            case "believe", ():
                plan.stale_topics.clear()
                plan.recheck_all()
            case "prefer", (TopicPartition() as tp, int(broker_id)):
                plan.prefer(self.now, tp, broker_id)
                if broker_id in BROKERS and self.cluster.leader(tp) is not None:
                    self.preferred[tp] = broker_id, self.now, self.cluster.leader(tp)
            case "return", (TopicPartition() as tp,):
                plan.return_to_leader(tp)
                self.preferred.pop(tp, None)
            case "wait", (int(ms),):
                self.now += ms * MILLISECOND
            case "assign", (list(partitions),):
                plan.assign(partitions)

    def preferred_endpoint(self, tp: TopicPartition) -> Endpoint | None:
        broker_id, since, leader = self.preferred.get(tp, (-1, 0, None))
        holds = self.cluster.leader(tp) == leader and self.now <= since + MAX_AGE_MS * MILLISECOND
        return BROKERS.get(broker_id) if holds else None

    def fetch(self) -> None:
        """Send the fetches, and compare the leaders' view with positions and leaders."""
        endpoints = self.plan.update_sessions(self.now)
        for endpoint in endpoints:
            request = FetchRequest()
            session = self.plan.sessions[endpoint]
            told = {} if session.is_new else self.told[endpoint]
            self.plan.fill(endpoint, request)
            for gone in request.forgotten_topics_data:
                for index in gone.partitions:
                    del told[TopicPartition(gone.topic, index)]
            for topic in request.topics:
                for row in topic.partitions:
                    told[TopicPartition(topic.topic, row.partition)] = row.fetch_offset
            self.told[endpoint] = told
            session.accept(FetchResponse(session_id=7))
        expected: dict[Endpoint, dict[TopicPartition, int]] = {}
        for tp in self.plan.assigned:
            endpoint = self.cluster.leader_endpoint(tp)
            if endpoint is not None and tp.topic not in self.plan.stale_topics and tp in self.plan.positions:
                endpoint = self.preferred_endpoint(tp) or endpoint
                expected.setdefault(endpoint, {})[tp] = self.plan.positions[tp].offset
        assert endpoints == list(expected)
        assert {endpoint: self.told[endpoint] for endpoint in endpoints} == expected
        assert self.plan.without_position() == [tp for tp in self.plan.assigned if tp not in self.plan.positions]


@given(st.lists(STEPS, max_size=8))
@example([[("assign", TPS[::-1])]])
def test_brokers_know_the_positions_of_partitions_fetched_from_them(rounds: list[list[tuple[object, ...]]]) -> None:
    reader = Reader()
    reader.fetch()
    for steps in rounds:
        for what, *how in steps:
            reader.step(str(what), *how)
        reader.fetch()
