"""The operations of a mirror, run by hand: their requests, their repetitions, and their errors after a timeout."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from kmirror.assembly.mirror_scripts import BlockingMirror, MirrorScripts
from kmirror.assembly.mirrors import WITHIN_S, Difference
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen import describe_mirrors_response as described
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

T = TypeVar("T")
TP = TopicPartition("t", 0)
ID = Uuid(bytes(range(16)))


def row(state: MirrorState, lag: int = 0) -> Message:
    partition = described.PartitionDetail(partition_index=0, lag=lag, state=state.name)
    topic = described.TopicPartitions(topic_name="t", partitions=[partition])
    return described.DescribeMirrorsResponse(mirrors=[described.DescribedMirror(mirror_name="m", topics=[topic])])


def refused(error: ErrorCode) -> Message:
    mirror = described.DescribedMirror(mirror_name="m", error_code=error)
    return described.DescribeMirrorsResponse(mirrors=[mirror])


class Scripted(MirrorScripts):
    """Returns the given responses in order; time passes when an operation sleeps."""

    def __init__(self, *answers: Message, topics: Sequence[str] = ("t",)) -> None:
        super().__init__("m", "a:9092", cluster="cluster b", clusters="a to b", moment=lambda: " (then)")
        self.answers = list(answers)
        self.asked: list[Message] = []
        self.slept: list[tuple[float, str]] = []
        self._topics = list(topics)

    async def topics(self) -> list[str]:
        return self._topics

    async def difference(self) -> Difference | None:
        return Difference(TP, 3, "records", 1, 2)

    async def _send_change(self, request: Message) -> Message:
        self.asked.append(request)
        return self.answers.pop(0)

    async def _send_to_each(self, request: Message) -> Mapping[int, Message]:
        return {1: await self._send_change(request)}

    async def _source_ids(self, topics: Sequence[str]) -> Mapping[str, Uuid]:
        return {"t": ID}

    async def _partitions(self, topics: Sequence[str], *, at_source: bool) -> list[TopicPartition]:
        return [TP] if at_source or self._topics == ["t"] else []

    async def _comparable_partitions(self, has_timed_out: Callable[[], bool]) -> list[TopicPartition]:
        return [TP]

    async def _caught_up(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        return list(partitions) if self.slept else []

    def _timer(self, within_s: float) -> Callable[[], bool]:
        return lambda: sum(span_s for span_s, _ in self.slept) >= within_s

    async def _sleep(self, span_s: float, waits_for: str = "") -> None:
        self.slept.append((span_s, waits_for))


class ByHand(BlockingMirror):
    """Runs operations that never wait, and records their descriptions."""

    def __init__(self, scripts: Scripted) -> None:
        self.name = scripts.name
        self.scripts = scripts
        self.began: list[str] = []

    def _run(self, what: str, call: Callable[[MirrorScripts], Coroutine[Any, Any, T]], within_s: float = WITHIN_S) -> T:
        self.began.append(what.format(self.name))
        return result(call(self.scripts))


def result(work: Coroutine[Any, Any, T]) -> T:
    with pytest.raises(StopIteration) as ended:
        work.send(None)
    value: T = ended.value.value
    return value


def test_ids_that_the_source_does_not_return_are_zero() -> None:
    scripts = Scripted(AddTopicsToMirrorResponse())
    ByHand(scripts).add_topics(["t", "u"])
    [request] = scripts.asked
    assert isinstance(request, AddTopicsToMirrorRequest)
    assert [(each.topic_name, each.topic_id) for each in request.topics] == [("t", ID), ("u", Uuid.ZERO)]


def test_a_refusal_ends_in_the_moment() -> None:
    mirror = ByHand(Scripted(AddTopicsToMirrorResponse(error_code=ErrorCode.UNKNOWN_MIRROR, error_message="no such")))
    with pytest.raises(KafkaError, match=r"^cannot add topics to mirror m: UNKNOWN_MIRROR: no such \(then\)$"):
        mirror.add_topics(["t"])


@pytest.mark.decision("D38")
def test_a_mirror_that_no_broker_knows_is_described_twice() -> None:
    scripts = Scripted(refused(ErrorCode.UNKNOWN_MIRROR), row(MirrorState.MIRRORING))
    assert [found.state for found in ByHand(scripts).describe()] == [MirrorState.MIRRORING]
    assert scripts.slept == [(0.5, "")]
    with pytest.raises(KafkaError, match=r"cannot describe mirror m: UNKNOWN_MIRROR: .*\(then\)"):
        ByHand(Scripted(*[refused(ErrorCode.UNKNOWN_MIRROR)] * 2)).reason()


def test_a_wait_names_the_partitions_that_are_not_ready() -> None:
    scripts = Scripted(row(MirrorState.MIRRORING, lag=-1), row(MirrorState.MIRRORING))
    mirror = ByHand(scripts)
    mirror.catch_up()
    assert scripts.slept == [(0.5, "t-0 (MIRRORING, lag -1)")]
    assert mirror.began == ["mirror m to reach MIRRORING, caught up"]


def test_a_timeout_of_a_wait_names_the_states_of_the_partitions() -> None:
    mirror = ByHand(Scripted(*[row(MirrorState.STOPPING)] * 2))
    late = r"^mirror m did not reach STOPPED within 0.5 s; waiting for t-0 \(STOPPING, lag 0\)$"
    with pytest.raises(KafkaError, match=late) as error:
        mirror.wait_for_state(MirrorState.STOPPED, [TP], within_s=0.5)
    assert error.value.code is ErrorCode.REQUEST_TIMED_OUT


def test_a_failover_of_topics_that_were_never_created_ends_immediately() -> None:
    scripts = Scripted(RemoveTopicsFromMirrorResponse(), row(MirrorState.MIRRORING), topics=["later"])
    assert [found.tp for found in ByHand(scripts).fail_over()] == [TP]
    with pytest.raises(UsageError, match=r"mirror m of cluster b has no topics: call add_topics\(\) first"):
        ByHand(Scripted(topics=())).fail_over()


def test_a_difference_is_an_assertion_with_both_clusters_and_the_moment() -> None:
    with pytest.raises(AssertionError, match=r"^mirror m from a to b: t-0 offset 3 field records: .* \(then\)$"):
        ByHand(Scripted()).assert_equal()
