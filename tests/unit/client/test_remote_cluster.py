"""A client's metadata of a cluster, and its request versions: brokers that change, lag, or support few APIs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.client import requester
from kmirror.client.remote_cluster import Changes, LeaderHint, RemoteCluster, RemoteLeader, parse_servers
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import decode_response_body
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BOOTSTRAP, ONE, OTHER, TOPIC_ID, TP, TWO, Script, metadata, versions

REFUSED = ErrorCode.UNSUPPORTED_VERSION


class Stage:
    """A client's view of a cluster, and the results of its requests."""

    def __init__(self) -> None:
        self.script = Script()
        self.refreshed: list[Changes | None] = []
        self.told: list[Message | None] = []
        self.cluster = RemoteCluster(
            "me", self.script.requester, (BOOTSTRAP,), timeout_ms=1_000, on_refreshed=self.on_refreshed
        )

    def on_refreshed(self, _: Instant, changes: Changes | None) -> None:
        self.refreshed.append(changes)

    def on_reply(self, _: Instant, reply: Message | None) -> None:
        self.told.append(reply)

    def refresh(self, reply: MetadataResponse, topics: Sequence[str] = ("t",)) -> None:
        """Refresh topics with this response."""
        self.cluster.refresh(0, topics)
        if isinstance(self.script.pending_requests()[0].body, ApiVersionsRequest):
            self.script.answer_versions()
        self.script.answer(reply)

    def refresh_with(self, reply: MetadataResponse) -> tuple[bool, list[str], list[TopicPartition]]:
        """Refresh, and return the reported changes: the cluster id, topics, partitions."""
        self.refresh(reply)
        changes = self.refreshed[-1]
        assert changes is not None
        return changes.cluster_id, list(changes.topics), list(changes.partitions)

    def send(self, body: Message, *, version_min: int = 0, version_max: int | None = None) -> None:
        self.cluster.send(0, ONE, "x", body, self.on_reply, version_min=version_min, version_max=version_max)


def test_versions_are_requested_once_per_broker_and_the_newest_is_used() -> None:
    stage = Stage()
    stage.send(MetadataRequest())
    stage.script.answer_versions(Metadata=(2, 9))
    assert (stage.script.versions, stage.script.pending_requests()[0].channel) == ([9], "me-x")
    stage.send(MetadataRequest())
    assert stage.script.versions == [9, 9]


def test_an_api_that_a_broker_does_not_serve_is_not_sent() -> None:
    stage = Stage()
    stage.send(MetadataRequest())
    stage.script.answer_versions(Fetch=(1, 0), ListOffsets=(1, 5))
    stage.script.answer(MetadataResponse())
    for body, version_min in ((FetchRequest(), 0), (ListOffsetsRequest(), 6)):
        stage.send(body, version_min=version_min)
        stage.script.answer_versions(Fetch=(1, 0), ListOffsets=(1, 5))
    assert stage.script.pending_requests() == [] and stage.told[1:] == [None, None]
    assert not stage.cluster.supports(ONE, FetchRequest) and stage.cluster.version(ONE, ListOffsetsRequest) == 5


@pytest.mark.decision("D76")
def test_an_api_is_sent_once_the_broker_serves_it() -> None:
    stage = Stage()
    stage.send(DescribeMirrorsRequest())
    stage.script.answer_versions(DescribeMirrors=(1, 0))
    assert stage.told == [None]
    stage.send(DescribeMirrorsRequest())
    stage.script.answer_versions()
    stage.script.answer(DescribeMirrorsResponse())
    assert isinstance(stage.told[1], DescribeMirrorsResponse)


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (FetchRequest(), FetchResponse(error_code=REFUSED)),
        (
            FindCoordinatorRequest(coordinator_keys=["g"]),
            FindCoordinatorResponse(coordinators=[Coordinator(key="g", error_code=REFUSED)]),
        ),
    ],
    ids=["at the top", "in a row"],
)
@pytest.mark.decision("D76")
def test_a_refused_version_is_replaced_by_the_one_served_now(body: Message, refusal: Message) -> None:
    stage = Stage()
    stage.send(body)
    stage.script.answer_versions()
    (newest,) = stage.script.versions
    stage.script.answer(refusal)
    name = refusal.NAME.removesuffix("Response")
    stage.script.answer_versions(**{name: (4, newest - 1)})
    assert stage.script.versions == [newest - 1]
    stage.script.answer(type(refusal)())
    stage.send(body)
    assert stage.script.versions == [newest - 1], "nothing is asked again"
    assert [type(reply) for reply in stage.told] == [type(refusal)]
    assert stage.told[0] != refusal


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.decision("D76")
def test_an_error_is_returned_if_no_other_version_exists(served: bool) -> None:
    stage = Stage()
    stage.send(DescribeMirrorsRequest())
    stage.script.answer_versions()
    stage.script.answer(DescribeMirrorsResponse(error_code=REFUSED))
    stage.script.answer_versions(DescribeMirrors=(0 if served else 1, 0))
    assert stage.script.pending_requests() == []
    assert stage.told == [DescribeMirrorsResponse(error_code=REFUSED)]
    assert stage.cluster.supports(ONE, DescribeMirrorsRequest) is served


@pytest.mark.decision("D76")
def test_a_version_refused_twice_is_not_sent_a_third_time() -> None:
    stage = Stage()
    stage.send(FetchRequest())
    stage.script.answer_versions()
    (newest,) = stage.script.versions
    stage.script.answer(FetchResponse(error_code=REFUSED))
    stage.script.answer_versions(Fetch=(4, newest - 1))
    stage.script.answer(FetchResponse(error_code=REFUSED))
    assert stage.script.pending_requests() == [] and len(stage.told) == 1


@pytest.mark.parametrize("by", ["a request", "a question of its own"])
@pytest.mark.decision("D76")
def test_versions_are_unknown_if_the_broker_does_not_return_them_again(by: str) -> None:
    stage = Stage()
    stage.cluster.record_versions(ONE, {MetadataRequest.API_KEY: (0, 5)})
    if by == "a request":
        stage.send(DescribeMirrorsRequest())
    else:
        stage.cluster.request_versions(0, ONE, "x", lambda now: stage.on_reply(now, None))
    stage.script.break_link()
    assert stage.told == [None] and not stage.cluster.knows_versions(ONE)


@pytest.mark.parametrize(("served", "sent"), [((1, 11), [7]), ((1, 5), [5]), ((8, 11), [])])
def test_a_body_that_newer_versions_cannot_carry_is_sent_in_an_older_one(
    served: tuple[int, int], sent: list[int]
) -> None:
    stage = Stage()
    stage.send(ListOffsetsRequest(), version_max=7)
    stage.script.answer_versions(ListOffsets=served)
    assert stage.script.versions == sent
    assert stage.told == ([] if sent else [None])


def test_a_dead_link_removes_the_known_versions() -> None:
    stage = Stage()
    stage.send(MetadataRequest())
    stage.script.answer_versions()
    stage.script.break_link()
    assert stage.told == [None] and not stage.cluster.knows_versions(ONE)
    stage.send(MetadataRequest())
    assert isinstance(stage.script.pending_requests()[0].body, ApiVersionsRequest)


def test_a_broker_that_returns_no_versions_gets_no_other_requests() -> None:
    stage = Stage()
    stage.send(MetadataRequest())
    refused = versions()
    refused.error_code = ErrorCode.UNSUPPORTED_VERSION
    stage.script.answer(refused)
    assert stage.script.pending_requests() == [] and stage.told == [None]


def test_known_versions_are_not_requested() -> None:
    stage = Stage()
    stage.cluster.record_versions(ONE, {MetadataRequest.API_KEY: (0, 5)})
    stage.send(MetadataRequest())
    assert stage.script.versions == [5]


def test_a_request_that_no_version_can_carry_counts_as_unanswered() -> None:
    stage = Stage()
    stage.send(MetadataRequest(topics=None))
    stage.script.answer_versions(Metadata=(0, 0))
    assert stage.told == [None] and any("cannot send to one:9092" in note for note in stage.script.notes)


def test_leaders_are_found_at_the_brokers_named_by_the_response() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4), OTHER: (9, 4)}))
    assert stage.cluster.leader_endpoint(TP) == ONE
    assert stage.cluster.leader_endpoint(OTHER) is None, "broker 9 is not among them"
    assert stage.cluster.topics["t"].partitions == 2 and stage.cluster.cluster_id == "theirs"
    assert len(stage.refreshed) == 1


def test_a_refresh_returns_its_changes_and_the_unknown_topics() -> None:
    stage = Stage()
    assert stage.refresh_with(metadata({TP: (1, 4), OTHER: (2, 4)})) == (True, ["t"], [TP, OTHER])
    assert stage.refresh_with(metadata({TP: (1, 4), OTHER: (2, 4)})) == (False, [], [])
    assert stage.refresh_with(metadata({TP: (1, 4), OTHER: (2, 5)})) == (False, [], [OTHER]), "a leader epoch"
    assert stage.refresh_with(metadata({TP: (2, 3), OTHER: (1, 6)})) == (False, [], [OTHER]), "an older answer about TP"
    for _ in range(2):
        assert stage.refresh_with(metadata({TP: (1, 4), OTHER: (-1, 7)})) == (False, [], [OTHER]), "no leader"
    assert stage.refresh_with(metadata({TP: (1, 4)})) == (False, ["t"], []), "the number of partitions"
    renewed = metadata({TP: (1, 4)}, topic_id=Uuid.from_ints(3, 4))
    assert stage.refresh_with(renewed) == (False, ["t"], [TP])
    renewed.cluster_id = "another"
    assert stage.refresh_with(renewed) == (True, [], [])


def test_a_broker_that_moved_or_went_changes_the_partitions_that_it_leads() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4), OTHER: (2, 4)}))
    moved = metadata({TP: (1, 4), OTHER: (2, 4)})
    moved.brokers[1].port += 1
    assert stage.refresh_with(moved) == (False, [], [OTHER])
    del moved.brokers[0]
    for _ in range(2):
        assert stage.refresh_with(moved) == (False, [], [TP]), "the address of broker 1 is unknown"


def test_a_changed_topic_error_and_a_missing_topic_are_changes() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    for error, told in [
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ["t"]),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, []),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ["t"]),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ["t"]),
        (ErrorCode.NONE, ["t"]),
        (ErrorCode.NONE, []),
    ]:
        assert stage.refresh_with(metadata({TP: (1, 4)}, error=error))[1] == told, error
    assert stage.refresh_with(metadata({}))[1] == ["t"], "asked for, and not in the answer"


def test_a_repeated_error_is_no_change_in_a_response_with_others() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    renamed = metadata({TP: (1, 4)}, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    renamed.cluster_id = "another"
    assert stage.refresh_with(renamed) == (True, [], [])


def test_a_leader_epoch_never_falls_while_the_topic_is_the_same() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    stage.refresh(metadata({TP: (2, 3)}))
    assert stage.cluster.leader(TP) == RemoteLeader(1, 4)
    stage.refresh(metadata({TP: (2, 0)}, topic_id=Uuid.from_ints(3, 4)))
    assert stage.cluster.leader(TP) == RemoteLeader(2, 0)


def test_missing_and_denied_topics_are_distinguished() -> None:
    stage = Stage()
    for times in (1, 2):
        stage.refresh(metadata({TP: (1, 4)}, error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        assert stage.cluster.missing_topics == {"t": times}
    stage.refresh(metadata({TP: (1, 4)}, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert (stage.cluster.missing_topics, stage.cluster.topic_errors) == (
        {},
        {"t": ErrorCode.TOPIC_AUTHORIZATION_FAILED},
    )
    stage.refresh(metadata({TP: (1, 4)}))
    assert (stage.cluster.topic_errors, stage.cluster.topics["t"].topic_id) == ({}, TOPIC_ID)


def test_one_refresh_at_a_time_goes_to_one_broker_after_another() -> None:
    stage = Stage()
    stage.cluster.refresh(0, ["t"])
    stage.cluster.refresh(0, ["t"])
    assert len(stage.script.pending_requests()) == 1
    stage.script.answer_versions()
    stage.script.answer(metadata({TP: (1, 4)}))
    stage.cluster.refresh(0, ["t"])
    assert stage.script.break_link().peer in (ONE, TWO)
    assert stage.refreshed[0] is not None and stage.refreshed[1] is None and not stage.cluster.refreshing


def test_servers_without_a_possible_port_are_left_out() -> None:
    assert parse_servers("one:9092, two:x,three,:1,four:0,five:65536") == (ONE,)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The Metadata responses that were decoded."""
    found: list[Message] = []

    def reading(frame: Chunk, api_key: int, version: int) -> Message:
        answer = decode_response_body(frame, api_key, version)
        found.extend([answer] if isinstance(answer, MetadataResponse) else [])
        return answer

    monkeypatch.setattr(requester, "decode_response_body", reading)
    return found


def test_an_equal_response_is_not_read(read: list[Message]) -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    read.clear()
    for _ in range(3):
        assert stage.refresh_with(metadata({TP: (1, 4)})) == (False, [], [])
    assert read == []
    assert stage.refresh_with(metadata({TP: (2, 9)})) == (False, [], [TP])
    assert stage.cluster.leader(TP) == RemoteLeader(2, 9)


def test_a_response_is_read_again_once_other_data_was_learned() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    stage.cluster.forget("t")
    assert not stage.cluster.has("t") and stage.cluster.leader(TP) is None
    assert stage.refresh_with(metadata({TP: (1, 4)})) == (False, ["t"], [TP])
    assert stage.cluster.has("t") and stage.cluster.leader(TP) is not None


def test_a_response_to_another_request_is_read(read: list[Message]) -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    read.clear()
    stage.refresh(metadata({TP: (1, 4)}), ["t", "u"])
    assert len(read) == 1
    assert stage.refreshed[-1] is not None and list(stage.refreshed[-1].topics) == ["u"]


# -- hints (KIP-951) and brokers that hang -----------------------------------------------------------


def led_by(broker_id: int, epoch: int) -> LeaderHint:
    return LeaderHint(broker_id, epoch)


def test_a_hint_counts_if_its_epoch_is_later_than_the_known_one() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    known = stage.cluster.leader(TP)
    assert known is not None
    other = next(broker for broker in stage.cluster.brokers if broker != known.broker_id)
    assert not stage.cluster.record_hint(TP, led_by(other, known.epoch)), "two that name each other are not believed"
    assert not stage.cluster.record_hint(TP, led_by(-1, known.epoch + 1)), "it does not know either"
    assert stage.cluster.leader(TP) == known
    assert stage.cluster.record_hint(TP, led_by(other, known.epoch + 1))
    assert stage.cluster.leader(TP) == RemoteLeader(other, known.epoch + 1)


def test_a_broker_known_only_by_a_hint_has_the_endpoint_of_the_hint() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    where = Endpoint("new", 9092)
    assert not stage.cluster.record_hint(TP, led_by(77, 100)), "no response had its address"
    assert stage.cluster.record_hint(TP, LeaderHint(77, 100, where))
    assert stage.cluster.leader_endpoint(TP) == where


def test_where_a_known_broker_listens_no_hint_changes() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    known = dict(stage.cluster.brokers)
    (broker_id, *_) = known
    assert stage.cluster.record_hint(TP, LeaderHint(broker_id, 100, Endpoint("elsewhere", 1)))
    assert stage.cluster.brokers == known


def test_a_broker_that_did_not_respond_is_skipped_until_none_did() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    every = {*stage.cluster.brokers.values(), BOOTSTRAP}
    stage.send(MetadataRequest())  # To broker ONE.
    stage.script.break_link()
    asked = {stage.cluster.any_broker() for _ in range(10)}
    assert asked == every - {ONE}


def test_a_known_topic_id_is_kept_if_a_response_has_none() -> None:
    stage = Stage()
    stage.refresh(metadata({TP: (1, 4)}))
    before = stage.cluster.topics["t"]
    assert any(before.topic_id)
    without = metadata({TP: (1, 4)})
    without.topics[0].topic_id = Uuid.ZERO
    assert stage.refresh_with(without) == (False, [], [])
    assert stage.cluster.topics["t"] == before
