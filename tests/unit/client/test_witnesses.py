"""Brokers whose metadata counts: one that proves to be up to date, or all of those that cannot prove it (D60)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.client.witnesses import NO_PROOF, Witnesses, find_witnesses, proof_timeout_ms
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.gen.describe_quorum_response import DescribeQuorumResponse, PartitionData, TopicData
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BOOTSTRAP, ONE, TWO, Script, versions

pytestmark = pytest.mark.decision("D60")


class Stage:
    """A cluster of two brokers, and the witnesses that were found."""

    def __init__(self) -> None:
        self.script = Script()
        self.cluster = RemoteCluster("me", self.script.requester, (BOOTSTRAP,), timeout_ms=1_000)
        self.found: list[Witnesses] = []

    def search(self, *listed: Endpoint) -> None:
        find_witnesses(self.cluster, 0, listed, lambda _, witnesses: self.found.append(witnesses))

    def tell_quorum(
        self, committed: int, *, error: ErrorCode = ErrorCode.NONE, row: ErrorCode = ErrorCode.NONE
    ) -> None:
        """Answer DescribeQuorum, after ApiVersions if that was sent, with the committed offset."""
        if isinstance(self.script.pending_requests()[0].body, ApiVersionsRequest):
            self.script.answer_versions()
        self.script.next(DescribeQuorumRequest)
        topic = TopicData("__cluster_metadata", [PartitionData(high_watermark=committed, error_code=row)])
        self.script.answer(DescribeQuorumResponse(error_code=error, topics=[topic]))

    def tell_replayed(self, offset: int) -> None:
        """Answer ApiVersions with the offset up to which a broker has replayed the metadata log."""
        self.script.next(ApiVersionsRequest)
        answer = versions()
        answer.finalized_features_epoch = offset
        self.script.answer(answer)

    @property
    def endpoints(self) -> list[list[Endpoint]]:
        return [one.endpoints for one in self.found]


def test_a_broker_that_has_replayed_all_committed_records_is_the_only_witness() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    stage.tell_quorum(10)
    assert stage.found == [], "that its controller answers proves nothing of what it has replayed"
    stage.tell_replayed(9)
    assert stage.endpoints == [[ONE]]
    assert stage.found[0].are_valid(stage.cluster)


def test_a_broker_that_lags_is_passed_over() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    stage.tell_quorum(10)
    stage.tell_replayed(8)
    stage.tell_quorum(11)
    stage.tell_replayed(10)
    assert stage.endpoints == [[TWO]]


@pytest.mark.parametrize(
    ("committed", "error", "row"),
    [
        (10, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE),
        (10, ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (-1, ErrorCode.NONE, ErrorCode.NONE),
        (0, ErrorCode.NONE, ErrorCode.NONE),
    ],
)
def test_without_a_response_of_the_controller_there_are_no_witnesses(
    committed: int, error: ErrorCode, row: ErrorCode
) -> None:
    stage = Stage()
    stage.search(ONE)
    stage.tell_quorum(committed, error=error, row=row)
    assert stage.endpoints == [[]] and not stage.found[0].are_valid(stage.cluster)


def test_a_broker_without_its_controller_is_neither_witness_nor_silent() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    stage.script.answer_versions()
    stage.script.break_link()
    stage.tell_quorum(10)
    stage.tell_replayed(9)
    assert stage.endpoints == [[TWO]]
    assert stage.cluster.round_robin([ONE, TWO])[0] in (ONE, TWO) and not stage.cluster.is_unresponsive
    assert [stage.cluster.round_robin([ONE, TWO])[0] for _ in range(2)] == [ONE, TWO]


def test_a_closed_cluster_gets_no_more_requests() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    stage.script.answer_versions()
    stage.cluster.close(0)
    assert stage.endpoints == [[]]
    assert [one.peer for one in stage.script.pending_requests()] == [ONE], "what had been sent before"


@pytest.mark.parametrize("way", ["release", "rights", "epoch"])
def test_where_a_broker_cannot_prove_it_all_that_are_listed_are_witnesses(way: str) -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    if way == "release":
        stage.script.answer_versions(DescribeQuorum=(1, 0))
    elif way == "rights":
        stage.tell_quorum(0, error=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    else:
        stage.tell_quorum(10)
        stage.tell_replayed(-1)
    assert stage.endpoints == [[ONE, TWO]]


def collect_responses(stage: Stage, witnesses: Witnesses) -> list[Sequence[Message]]:
    told: list[Sequence[Message]] = []

    def on_answers(_: Instant, answers: Sequence[Message]) -> None:
        told.append(answers)

    witnesses.ask(0, stage.cluster, MetadataRequest(topics=[]), on_answers)
    return told


def answer(stage: Stage) -> None:
    if isinstance(stage.script.pending_requests()[0].body, ApiVersionsRequest):
        stage.script.answer_versions()
    else:
        stage.script.answer(MetadataResponse(cluster_id="c"))


def test_a_question_is_answered_when_all_witnesses_have_responded() -> None:
    stage = Stage()
    told = collect_responses(stage, Witnesses.select(stage.cluster, [ONE, TWO]))
    for _ in range(3):
        answer(stage)
    assert told == []
    answer(stage)
    assert [len(answers) for answers in told] == [2]


def test_a_silent_witness_leaves_the_question_open() -> None:
    stage = Stage()
    told = collect_responses(stage, Witnesses.select(stage.cluster, [ONE, TWO]))
    answer(stage)
    answer(stage)
    while stage.script.pending_requests():
        if (
            isinstance(stage.script.pending_requests()[0].body, ApiVersionsRequest)
            or stage.script.pending_requests()[0].peer == ONE
        ):
            answer(stage)
        else:
            stage.script.break_link()
    assert told == [()]


def test_a_witness_whose_link_ended_may_have_restarted_and_counts_no_more() -> None:
    stage = Stage()
    witnesses = Witnesses.select(stage.cluster, [ONE])
    told = collect_responses(stage, witnesses)
    answer(stage)
    stage.script.requester.closed_links[ONE] = 1
    answer(stage)
    assert told == [()] and not witnesses.are_valid(stage.cluster)


def test_without_witnesses_no_request_is_sent() -> None:
    stage = Stage()
    assert collect_responses(stage, Witnesses.select(stage.cluster, [])) == [()]
    assert stage.script.pending_requests() == []


def test_a_proof_may_take_as_long_as_slow_responses_up_to_the_request_timeout() -> None:
    cluster = RemoteCluster("me", Script().requester, (BOOTSTRAP,), timeout_ms=30_000)
    assert proof_timeout_ms(cluster) == 3_000
    cluster.last_refresh_duration = 300 * MILLISECOND
    assert proof_timeout_ms(cluster) == 3_000
    cluster.last_refresh_duration = 1_000 * MILLISECOND
    assert proof_timeout_ms(cluster) == 8_000
    cluster.last_refresh_duration = 5_000 * MILLISECOND
    assert proof_timeout_ms(cluster) == 30_000
    cluster.timeout_ms = 1_000
    assert proof_timeout_ms(cluster) == 1_000


def test_if_no_broker_responds_the_reason_has_the_waiting_times() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    for _ in range(2):
        stage.script.answer_versions()
        stage.script.break_link()
    assert stage.found[0].missing_reason == f"{NO_PROOF}: no answer within 1000 ms (request.timeout.ms)"


def test_a_response_without_a_proof_is_the_reason_rather_than_silence() -> None:
    stage = Stage()
    stage.search(ONE, TWO)
    stage.tell_quorum(-1)
    stage.script.answer_versions()
    stage.script.break_link()
    assert stage.found[0].missing_reason == NO_PROOF
