"""Differential fuzzing of brokers: two kmirror brokers agree, and a planted difference is found once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.differential.compared_broker import MARK
from kmirror.fuzz.findings import FaultKind, keep, load
from kmirror.fuzz.parallel_jobs import split_jobs
from kmirror.fuzz.replay import replay
from kmirror.fuzz.requests import TOPIC
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets.brokers import BrokersTarget, stream
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.hooks.hooks import Hooks
from kmirror.net.cluster import TcpCluster
from kmirror.net.profile import SERVED
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.headers import encode_request
from kmirror.spec.error_codes import ErrorCode

FRAMES = 64
MORE = CreatePartitionsRequest(
    topics=[CreatePartitionsTopic(name=TOPIC + MARK, count=3, assignments=None)], timeout_ms=1000
)
THIRD = ListOffsetsPartition(partition_index=2, timestamp=-1)
ENDS = ListOffsetsRequest(topics=[ListOffsetsTopic(name=TOPIC + MARK, partitions=[THIRD])])


@contextmanager
def other_broker(hooks: Hooks | None = None, brokers: int = 1, **more: int) -> Iterator[TcpCluster]:
    with TcpCluster(brokers=brokers, configs=SERVED, mirror_version=0, interpose=hooks, **more) as cluster:  # type: ignore[arg-type]
        yield cluster


def run(cluster: TcpCluster, *messages: str, seed: int = 1, frames: int = FRAMES, shrinks: bool = False) -> Campaign:
    options = TargetOptions(seed=seed, messages=messages, bootstrap_server=cluster.bootstrap_servers)
    target, source = open_target("brokers", options)
    with closing(target):
        assert isinstance(target, BrokersTarget)
        campaign = Campaign(target, source, shrinks=shrinks)
        for _ in campaign.run(frames=frames):
            pass
    return campaign


def test_two_kmirror_brokers_agree_and_leave_nothing_behind() -> None:
    with other_broker() as cluster:
        tally = run(cluster, frames=4 * FRAMES).tally
        assert not tally.findings, list(tally.findings)
        assert cluster.topics() == []
    assert tally.taken
    outcomes = {outcome for _, _, outcome in tally.outcomes}
    assert "closed" in outcomes and any(each.startswith("codes ") for each in outcomes)
    assert not any(each.startswith("unsteady") for each in outcomes)


def test_requests_of_every_kind_reach_both_under_the_same_names() -> None:
    with other_broker() as cluster:
        names = ("ProduceRequest", "FetchRequest", "MetadataRequest", "JoinGroupRequest", "ListOffsetsRequest")
        tally = run(cluster, *names, seed=4, frames=5 * FRAMES).tally
    assert not tally.findings, list(tally.findings)
    assert {name for name, _, outcome in tally.outcomes if outcome.startswith("taken")} >= {
        "MetadataRequest", "ListOffsetsRequest", "FetchRequest", "ProduceRequest",
    }  # fmt: skip


def test_another_error_code_is_found_once_with_its_versions() -> None:
    hooks = Hooks()
    hooks.on(HeartbeatRequest).answer(ErrorCode.INVALID_GROUP_ID)
    with other_broker(hooks) as cluster:
        tally = run(cluster, "HeartbeatRequest", shrinks=True).tally
    causes = list(tally.findings)
    assert causes == ["differs Heartbeat errorCode: UNKNOWN_MEMBER_ID by ours, INVALID_GROUP_ID by theirs"]
    (finding,) = tally.findings.values()
    assert finding.kind is FaultKind.DIFFERS
    assert not finding.before
    assert finding.expected == "as the other broker: INVALID_GROUP_ID"
    assert tally.counts[causes[0]] > 20
    assert len(tally.versions[causes[0]]) > 1


def test_row_differences_are_reported_with_their_subject() -> None:
    hooks = Hooks()
    hooks.on(OffsetCommitRequest).answer(ErrorCode.OFFSET_METADATA_TOO_LARGE)
    with other_broker(hooks) as cluster:
        tally = run(cluster, "OffsetCommitRequest").tally
    rows = [each for each in tally.findings.values() if "OffsetCommit topics.partitions.errorCode: " in each.cause]
    assert rows
    for finding in rows:
        assert finding.description.startswith("topics.partitions.errorCode of ")
        assert finding.description.split(": ")[0].split()[-1].lstrip("-").isdigit(), "a partition"


def test_an_unreproduced_difference_is_no_finding() -> None:
    hooks = Hooks()
    hook = hooks.on(HeartbeatRequest, nth=9, times=1).answer(ErrorCode.INVALID_GROUP_ID)
    with other_broker(hooks) as cluster:
        tally = run(cluster, "HeartbeatRequest").tally
    assert hook.count == 1
    assert not tally.findings, list(tally.findings)
    assert "unsteady" in {outcome for _, _, outcome in tally.outcomes}


def test_a_link_closed_by_one_broker_only_is_found() -> None:
    hooks = Hooks()
    hooks.on(HeartbeatRequest).close()
    with other_broker(hooks) as cluster:
        tally = run(cluster, "HeartbeatRequest", frames=32).tally
    assert list(tally.findings) == [
        "differs Heartbeat: answers with UNKNOWN_MEMBER_ID by ours, closes the link by theirs"
    ]


def test_consequences_of_a_difference_are_not_found_again() -> None:
    """The other broker creates no more partitions, and gets requests about some that kmirror has created."""
    hooks = Hooks()
    hooks.on(CreatePartitionsRequest).answer(ErrorCode.POLICY_VIOLATION)
    with other_broker(hooks) as cluster:
        options = TargetOptions(bootstrap_server=cluster.bootstrap_servers)
        target, _ = open_target("brokers", options)
        with closing(target):
            campaign = Campaign(target, stream(1, (CreatePartitionsRequest,)), shrinks=False)
            for number, (body, version) in enumerate([(MORE, 2), (ENDS, 7)] * 3):
                data = encode_request(body, version, correlation_id=7, client_id=None)
                campaign.put(Frame(number, body.NAME, version, data, (), True, type(body)))
    (finding,) = campaign.tally.findings.values()
    assert finding.cause == "CreatePartitions results.errorCode: NONE by ours, POLICY_VIOLATION by theirs"
    assert campaign.tally.counts == {f"differs {finding.cause}": 3}
    assert ("ListOffsetsRequest", 7, "codes 3") in campaign.tally.outcomes


def test_a_finding_is_tried_again(tmp_path: Path) -> None:
    hooks = Hooks()
    hook = hooks.on(HeartbeatRequest).answer(ErrorCode.INVALID_GROUP_ID)
    with other_broker(hooks) as cluster:
        tally = run(cluster, "HeartbeatRequest", frames=1).tally
        (finding,) = tally.findings.values()
        stored = load(keep(finding, tmp_path))
        options = TargetOptions(bootstrap_server=cluster.bootstrap_servers)
        assert hook.count and replay(stored, options) is not None
        hooks.clear()
        assert replay(stored, options) is None


def test_only_a_single_fresh_broker_is_compared() -> None:
    with other_broker(brokers=2) as cluster, pytest.raises(UsageError, match=r"has brokers \[1, 2\]"):
        open_target("brokers", TargetOptions(bootstrap_server=str(cluster.endpoint(1))))
    with other_broker() as cluster:
        cluster.create_topic("orders")
        with pytest.raises(UsageError, match="the broker has topic orders"):
            open_target("brokers", TargetOptions(bootstrap_server=cluster.bootstrap_servers))
        assert cluster.topics() == ["orders"]
    with pytest.raises(UsageError, match="needs --bootstrap-server"):
        open_target("brokers", TargetOptions())
    with pytest.raises(UsageError, match="cannot run in parallel"):
        split_jobs("brokers", TargetOptions(), 10)


def test_apis_of_one_side_only_are_reported_and_left_out() -> None:
    hooks = Hooks()
    hooks.cap(HeartbeatRequest, 2)
    with other_broker(hooks) as cluster:
        options = TargetOptions(messages=("HeartbeatRequest",), bootstrap_server=cluster.bootstrap_servers)
        target, _ = open_target("brokers", options)
        with closing(target):
            assert "left out, for only ours serves it: Heartbeat v3, v4" in target.remarks[0]
