"""Partitions share requests to a source's broker: the number of requests, and data that proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from kmirror.cluster.authorizer import ALLOW_ALL, Rights
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import ANONYMOUS, TopicPartition
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.context import MirrorContext
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.call_counts import count_calls
from tests.sim.stage import Pair, StagedCluster, WrittenLogs, assert_equal, pair, plain, values, wait_until_mirrored

KINDS: tuple[type[Message], ...] = (
    ApiVersionsRequest,
    DescribeMirrorsRequest,
    ListMirrorsRequest,
    ListOffsetsRequest,
)
M = TypeVar("M", bound=Message)


@dataclass(slots=True)
class Ear:
    """Records the requests of mirrors to the brokers of one cluster, and the responses."""

    cluster: StagedCluster
    heard: list[tuple[Message, Message]] = field(default_factory=list)
    change: Callable[[Message, Message], None] = lambda request, answer: None
    """May change the response to a request before it is sent."""

    def on_reply(self, inbound: Inbound, answer: Message) -> None:
        _, channel, _ = inbound.client.link.name
        ours = [self.cluster.broker(b).parts.server.links for b in self.cluster.living()]
        if str(channel).endswith("-describe") and inbound.links in ours:
            self.change(inbound.body, answer)
            self.heard.append((inbound.body, answer))

    def asked(self, kind: type[M]) -> list[M]:
        """Return the answered requests of a kind, in order."""
        return [request for request, _ in self.heard if isinstance(request, kind)]

    def described(self) -> int:
        """Return the number of partitions in all DescribeMirrors responses."""
        answers = [answer for _, answer in self.heard if isinstance(answer, DescribeMirrorsResponse)]
        return sum(len(topic.partitions) for answer in answers for mirror in answer.mirrors for topic in mirror.topics)

    def proofs_of(self, tp: TopicPartition) -> list[int]:
        """Return the leader epochs in ListOffsets requests for a partition."""
        return [
            row.current_leader_epoch
            for request in self.asked(ListOffsetsRequest)
            for topic in request.topics
            for row in topic.partitions
            if (topic.name, row.partition_index) == tp
        ]


Listen = Callable[[StagedCluster], Ear]


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Listen:
    def begin(cluster: StagedCluster) -> Ear:
        ear, reply = Ear(cluster), Inbound.reply

        def replying(inbound: Inbound, answer: Message) -> None:
            ear.on_reply(inbound, answer)
            reply(inbound, answer)

        monkeypatch.setattr(Inbound, "reply", replying)
        return ear

    return begin


def names(count: int) -> list[str]:
    return [f"t{number}" for number in range(count)]


def tp(number: int) -> TopicPartition:
    return TopicPartition(f"t{number}", 0)


def foreign(count: int) -> Pair:
    """Return a pair of one broker each; both have records of each topic, and a has no mirror."""
    theirs = WrittenLogs({name: [plain(0, 0, f"a of {name}")] for name in names(count)})
    ours = WrittenLogs({name: [plain(0, 0, f"b0 of {name}"), plain(1, 0, "b1")] for name in names(count)})
    return pair(brokers=1, logs=theirs, b_logs=ours)


def failed_over(count: int) -> Pair:
    """Return a pair of one broker each in which b has taken over from a, and has one record more."""
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in names(count)}))
    p.begin(names(count))
    p.fail_over(topics=names(count))
    for name in names(count):
        p.b.write("on b", tp=TopicPartition(name, 0))
    p.back.create()
    return p


def begin(p: Pair, count: int) -> None:
    p.there.create()
    p.there.add_topics(names(count))


# -- number of requests ---------------------------------------------------------------------------


def questions_of_a_failback(listen: Listen, count: int) -> dict[type[Message], int]:
    p = failed_over(count)
    ear = listen(p.b)
    p.fail_back(names(count), create=False)
    assert ear.described() == count, "each partition is described once"
    return {kind: len(ear.asked(kind)) for kind in KINDS}


def test_the_number_of_failback_requests_does_not_grow_with_partitions(listen: Listen) -> None:
    few, many = questions_of_a_failback(listen, 4), questions_of_a_failback(listen, 40)
    assert all(many[kind] <= few[kind] + 2 for kind in KINDS), (few, many)
    assert many[DescribeMirrorsRequest] <= 4


@pytest.mark.decision("D32")
def test_silence_is_proved_for_many_partitions_at_once(listen: Listen) -> None:
    p = foreign(30)
    ear = listen(p.a)
    begin(p, 30)
    wait_until_mirrored(p.there, names(30))
    assert 2 <= len(ear.asked(ListOffsetsRequest)) <= 8
    assert all(len(ear.proofs_of(tp(n))) == 2 for n in range(30))
    assert_equal(p.there, names(30))


def test_a_new_leader_epoch_causes_requests_for_its_partitions_only(listen: Listen) -> None:
    p = failed_over(10)
    p.fail_back(names(10), create=False)
    ear = listen(p.b)
    p.b.bump(9, tp(3))
    p.b.write("in the new epoch", tp=tp(3))
    p.run_until(lambda: values(p.a.log(tp(3)))[-1][1] == "in the new epoch", "a to follow")
    assert [t.topic_name for r in ear.asked(DescribeMirrorsRequest) for t in r.lineages] == ["t3"]
    assert ear.described() == 1


def test_a_source_that_knows_only_the_fields_of_the_proposal(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    """It describes all partitions that it leads, without lineages; one response serves all partitions that asked."""

    def details(context: MirrorContext, now: Instant, _: DescribeMirrorsRequest, mirror: str) -> list[Any]:
        return [(mp.tp, describe_mirrors._detail(context, now, mp)) for mp in context.partitions_of(mirror)]

    monkeypatch.setattr(describe_mirrors, "_details", details)
    p = failed_over(20)
    ear = listen(p.b)

    def leave_out(request: Message, answer: Message) -> None:
        if isinstance(answer, DescribeMirrorsResponse):
            answer.lineages, answer.cluster_ids = [], []

    ear.change = leave_out
    p.fail_back(names(20), create=False)
    assert ear.described() == 20 * len(ear.asked(DescribeMirrorsRequest)) <= 20 * 4
    assert_equal(p.back, names(20))


# -- data that proves nothing ---------------------------------------------------------------------


@pytest.mark.decision("D32")
def test_a_leader_change_between_the_two_list_offsets_proves_nothing_for_its_partition(listen: Listen) -> None:
    p = foreign(4)
    ear, changed = listen(p.a), tp(2)
    begin(p, 4)
    p.run_until(lambda: len(ear.proofs_of(changed)) == 1, "the first ListOffsets")
    p.a.bump(5, changed)
    assert not p.cuts, "nobody is cut on half a proof"
    p.run_until(lambda: bool(p.cuts), "those who have a proof to be cut")
    assert not p.cuts_of(p.b, changed), "the broker may not have led it throughout"
    assert_equal(p.there, names(4))
    assert ear.proofs_of(changed) == [1, 1, 5, 5], "all of the proof is of one epoch"


@pytest.mark.decision("D32")
def test_a_source_that_responds_for_half_of_the_partitions(listen: Listen) -> None:
    """The ListOffsets response lacks two of four partitions, without an error."""
    p = foreign(4)
    ear, missing = listen(p.a), names(4)[2:]

    def leave_out(request: Message, answer: Message) -> None:
        if isinstance(request, ListOffsetsRequest):
            answer.topics = [topic for topic in answer.topics if topic.name not in missing]  # type: ignore[attr-defined]

    ear.change = leave_out
    begin(p, 4)
    p.run_until(lambda: all(p.b.state(tp(n)) == "MIRRORING" for n in (0, 1)), "the two that have an answer")
    p.hold(20, lambda: not any(p.cuts_of(p.b, tp(n)) for n in (2, 3)), "an answer about others proves nothing")
    assert "no broker of the source has proved" in p.b.reason(tp(2))
    missing.clear()
    assert_equal(p.there, names(4))


@pytest.mark.decision("D45")
def test_a_mirror_waits_for_lineages_missing_in_a_response(listen: Listen) -> None:
    """It supports lineages, so that a missing one does not mean a log that its own cluster wrote."""
    p = failed_over(4)
    ear, missing = listen(p.b), names(4)[2:]

    def tell_of_another(request: Message, answer: Message) -> None:
        for topic in answer.lineages if isinstance(answer, DescribeMirrorsResponse) else []:
            if topic.topic_name in missing:
                topic.topic_name = "another"

    ear.change = tell_of_another
    p.back.add_topics(names(4))
    p.run_until(lambda: all(p.a.state(tp(n)) == "MIRRORING" for n in (0, 1)), "the two that have an answer")
    p.hold(20, lambda: p.a.state(tp(2)) != "MIRRORING" != p.a.state(tp(3)), "who wrote them is not known")
    assert "but not of this one" in p.a.reason(tp(2))
    missing.clear()
    assert_equal(p.back, names(4))


@pytest.mark.decision("D45")
def test_a_mirror_waits_for_a_lineage_with_an_unnamed_cluster(listen: Listen) -> None:
    p = failed_over(1)
    ear, is_told = listen(p.b), [False]

    def forget_clusters(request: Message, answer: Message) -> None:
        if isinstance(answer, DescribeMirrorsResponse) and not is_told[0]:
            answer.cluster_ids = answer.cluster_ids[:1]

    ear.change = forget_clusters
    p.back.add_topics(names(1))
    p.hold(10, lambda: p.a.state(tp(0)) != "MIRRORING", "who wrote that log is not known")
    assert "lacks the id of a cluster" in p.a.reason(tp(0))
    is_told[0] = True
    assert_equal(p.back, names(1))


@pytest.mark.decision("D16")
def test_a_response_after_a_change_of_servers_is_dropped(listen: Listen) -> None:
    """Another cluster replaces the source while a request is in flight; then the source returns."""
    p = failed_over(4)
    c = p.third("c", logs=WrittenLogs({name: [plain(0, 0, "c0")] for name in names(4)}))
    ear = listen(p.b)
    p.back.add_topics(names(4))
    p.run_until(lambda: bool(ear.asked(ListMirrorsRequest)), "the answer that a cut would follow")
    assert p.a.alter("m", {"bootstrap.servers": c.bootstrap_servers}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.hold(20, lambda: all(p.a.state(tp(n)) == "PREPARING" for n in range(4)), "nothing was learned")
    assert all(c.cluster_id in p.a.reason(tp(n)) for n in range(4)), "they were looked at again"
    assert p.a.alter("m", {"bootstrap.servers": p.b.bootstrap_servers}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    assert_equal(p.back, names(4))


def test_a_partition_that_moved_when_the_response_arrives(listen: Listen) -> None:
    """The round continues for the others; the new leader sends its own request."""
    logs = WrittenLogs({name: [plain(0, 0, "r0")] for name in names(6)})
    p = pair(logs=logs)
    p.begin(names(6))
    p.fail_over(topics=names(6))
    p.back.create()
    ear = listen(p.b)
    p.back.add_topics(names(6))
    p.run_until(lambda: bool(ear.asked(DescribeMirrorsRequest)), "the first answer")
    led = [n for n in range(6) if p.a.await_leader(tp(n)).broker_id == p.a.await_leader(tp(0)).broker_id]
    p.a.bump(20, tp(0))
    p.run_until(lambda: all(p.a.state(tp(n)) == "MIRRORING" for n in led), "all that this broker leads")
    assert_equal(p.back, names(6))


def test_to_describe_one_partition_costs_the_same_among_few_and_among_many() -> None:
    def work(count: int) -> int:
        p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in names(count)}))
        p.begin(names(count))
        context = p.b.component(1).context
        request = DescribeMirrorsRequest(
            mirror_names=["m"], lineages=[LineageTopic(topic_name="t1", partitions=[0])], named_only=True
        )
        inbound = AnsweredInbound(request)
        return count_calls(lambda: describe_mirrors.handle(context, p.simulation.world.now, inbound))  # type: ignore[arg-type]

    assert work(60) == work(6)


class AnsweredInbound:
    """A request of a client with all rights, whose response is dropped."""

    def __init__(self, body: Message) -> None:
        self.body = body
        self.rights = Rights(ALLOW_ALL, ANONYMOUS, "host")

    def reply(self, answer: Message) -> None:
        pass
