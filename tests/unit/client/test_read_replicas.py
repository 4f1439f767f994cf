"""A consumer with a rack: the replica that it fetches from, for how long, and the effects of its errors (KIP-392)."""

from __future__ import annotations

import pytest

from kmirror.client.consumer import ConsumerConfigs
from kmirror.client.positions import Position
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import EpochEndOffset, FetchResponse, LeaderIdAndEpoch, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BROKERS, ONE, TP, TWO, PendingRequest, metadata
from tests.unit.client.test_consumer import Stage, batch, data, fetch

MAX_AGE_MS = 5_000
IN_RACK = ConsumerConfigs(client_rack="r2", metadata_max_age_ms=MAX_AGE_MS)
UNKNOWN_BROKER = 7
RETURNS = [
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.INCONSISTENT_TOPIC_ID,
]


def prefers(broker_id: int) -> PartitionData:
    row = data()
    row.preferred_read_replica = broker_id
    return row


class Racks(Stage):
    """A consumer in rack r2; broker 1 leads TP in epoch 4."""

    def __init__(self, position: Position | None = None) -> None:
        super().__init__(IN_RACK)
        self.consumer.positions[TP] = position or Position(3)
        self.now: Instant = 0
        self.leader = (1, 4)
        self.looked_up = 0

    def next_fetch(self) -> PendingRequest:
        """Begin a round if none is in progress, and return its fetch."""
        if not self.script.pending_requests():
            self.consumer.poll(self.now, (TP,), lambda _, found: self.rounds.append(found))
        while not isinstance((one := self.script.pending_requests()[0]).body, FetchRequest):
            if isinstance(one.body, ApiVersionsRequest):
                self.script.answer_versions(self.now)
            else:
                assert isinstance(one.body, MetadataRequest), one.body
                self.looked_up += 1
                self.script.answer(metadata({TP: self.leader}), self.now)
        return one

    def peer(self) -> Endpoint:
        return self.next_fetch().peer

    def request(self) -> FetchRequest:
        body = self.next_fetch().body
        assert isinstance(body, FetchRequest)
        return body

    def reply(self, row: PartitionData | None = None) -> None:
        self.next_fetch()
        self.script.answer(FetchResponse(session_id=9) if row is None else fetch(row), self.now)

    def refresh(self) -> None:
        """Refresh the consumer's metadata with the current leader."""
        self.consumer.cluster.refresh(self.now, ["t"])
        if isinstance(self.script.pending_requests()[0].body, ApiVersionsRequest):
            self.script.answer_versions(self.now)
        self.script.answer(metadata({TP: self.leader}), self.now)

    def go_to_follower(self) -> None:
        """Let the leader name broker 2 as preferred read replica."""
        self.reply(prefers(2))
        assert self.peer() == TWO
        self.looked_up = 0


def test_the_leader_names_the_replica_for_the_rack() -> None:
    stage = Racks()
    assert (stage.peer(), stage.request().rack_id) == (ONE, "r2")
    stage.reply(prefers(2))
    assert stage.fetched() == []
    row = stage.request().topics[0].partitions[0]
    assert (stage.peer(), row.fetch_offset, row.current_leader_epoch) == (TWO, 3, 4)
    stage.reply(data(batch(3, "a")))
    assert stage.fetched() == [(3, "a")]
    assert stage.looked_up == 1


def test_without_a_rack_none_is_named() -> None:
    stage = Stage()
    stage.begin(3)
    assert stage.script.next(FetchRequest).rack_id == ""


def test_each_broker_has_a_session_of_its_own() -> None:
    stage = Racks()
    stage.go_to_follower()
    first = stage.request()
    assert (first.session_id, first.session_epoch) == (0, 0)
    stage.reply(data(batch(3, "a")))
    stage.consumer.positions[TP] = Position(4, 4)
    second = stage.request()
    assert (second.session_id, second.session_epoch, second.topics[0].partitions[0].fetch_offset) == (9, 1, 4)


def test_a_replica_is_preferred_until_the_metadata_would_be_too_old() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply()
    stage.now = MAX_AGE_MS * MILLISECOND
    assert stage.peer() == TWO
    stage.reply()
    stage.now += 1
    assert stage.peer() == ONE
    assert stage.request().rack_id == "r2"
    assert stage.looked_up == 0


@pytest.mark.parametrize("error", RETURNS, ids=lambda error: error.name)
def test_an_error_of_the_replica_leads_back_to_the_leader(error: ErrorCode) -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply(data(error=error))
    assert (stage.peer(), stage.looked_up) == (ONE, 1)
    assert stage.consumer.positions[TP] == Position(3)


def test_a_replica_without_the_leader_epoch_gets_the_request_again() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply(data(error=ErrorCode.UNKNOWN_LEADER_EPOCH))
    assert stage.peer() == TWO


def test_out_of_range_at_a_follower_leads_to_the_leader_and_there_to_a_reset() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply(data(error=ErrorCode.OFFSET_OUT_OF_RANGE))
    assert (stage.peer(), stage.looked_up) == (ONE, 0)
    assert stage.consumer.positions[TP] == Position(3)
    stage.reply(data(error=ErrorCode.OFFSET_OUT_OF_RANGE))
    assert TP not in stage.consumer.positions
    stage.poll()
    stage.script.next(ListOffsetsRequest)
    assert stage.script.pending_requests()[0].peer == ONE


def test_a_follower_that_names_the_known_leader_gets_no_second_request() -> None:
    stage = Racks()
    stage.go_to_follower()
    row = data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    row.current_leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=4)
    stage.reply(row)
    assert stage.peer() == ONE


def test_a_replica_that_does_not_respond_is_given_up() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.script.break_link()
    assert (stage.peer(), stage.looked_up) == (ONE, 1)


def test_an_error_of_the_session_ends_only_the_session() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.script.answer(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
    assert (stage.peer(), stage.request().session_epoch) == (TWO, 0)


def test_another_leader_epoch_ends_the_preference() -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply()
    stage.leader = (1, 5)
    stage.refresh()
    assert stage.peer() == ONE


def test_a_replica_that_disappears_from_the_metadata_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Racks()
    stage.go_to_follower()
    stage.reply()
    monkeypatch.delitem(BROKERS, 2)
    stage.refresh()
    assert stage.peer() == ONE


def test_a_replica_missing_in_the_metadata_causes_a_refresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Racks()
    stage.reply(prefers(UNKNOWN_BROKER))
    stage.looked_up = 0
    monkeypatch.setitem(BROKERS, UNKNOWN_BROKER, TWO)
    assert (stage.peer(), stage.looked_up) == (ONE, 1)
    stage.reply(prefers(UNKNOWN_BROKER))
    assert stage.peer() == TWO


class TestPositionsThatTheLeaderHasToKnow:
    """A follower may lag, so only the leader can detect that the log was truncated."""

    def test_a_position_with_an_epoch_is_validated_before_the_rack_is_sent(self) -> None:
        stage = Racks(Position(10, 3))
        row = stage.request().topics[0].partitions[0]
        assert (stage.request().rack_id, row.last_fetched_epoch) == ("", 3)
        stage.reply()
        assert stage.request().rack_id == "r2"
        stage.go_to_follower()
        row = stage.request().topics[0].partitions[0]
        assert (row.fetch_offset, row.last_fetched_epoch, stage.request().rack_id) == (10, -1, "r2")

    @pytest.mark.parametrize("diverges", [True, False])
    def test_an_error_or_a_divergence_does_not_validate_a_position(self, diverges: bool) -> None:
        stage = Racks(Position(10, 3))
        row = data() if diverges else data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if diverges:
            row.diverging_epoch = EpochEndOffset(epoch=2, end_offset=6)
        stage.reply(row)
        assert (stage.peer(), stage.request().rack_id) == (ONE, "")

    def test_a_position_changed_by_the_user_is_still_to_be_validated(self) -> None:
        stage = Racks(Position(10, 3))
        stage.next_fetch()
        stage.consumer.positions[TP] = Position(20, 3)
        stage.reply(data())
        assert stage.request().rack_id == ""

    def test_each_leader_epoch_validates_the_position_again(self) -> None:
        stage = Racks(Position(10, 3))
        stage.reply()
        stage.go_to_follower()
        stage.reply()
        stage.leader = (1, 5)
        stage.refresh()
        assert (stage.peer(), stage.request().rack_id) == (ONE, "")
