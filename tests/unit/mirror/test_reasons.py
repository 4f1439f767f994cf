"""The reason that DescribeMirrors gives for an unknown lag (D38, D62)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.client.fetch_loop import Fetcher
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.broker_apis.describe_mirrors import _reason
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState

pytestmark = pytest.mark.decision("D62")
WAIT_MS = 500
NOW = 60 * SECOND
SILENT = "the source's broker 1 at a-1:9092 has not responded "


@pytest.mark.parametrize(
    ("in_flight", "is_failing", "asked_s", "answered_s", "expected"),
    [
        (True, False, 57, 50, SILENT + "for 3 s"),
        (True, False, 58, 50, ""),  # It is not overdue, after a pause.
        (False, False, 50, 50, ""),
        (True, True, 59, 50, SILENT + "for 10 s"),  # The fetch before this one has failed.
        (False, True, 59, 50, SILENT + "for 10 s"),
        (True, True, 59, 58, ""),
        (True, True, 59, 0, SILENT + "yet"),
    ],
)
def test_a_source_that_does_not_respond_is_the_reason(
    in_flight: bool, is_failing: bool, asked_s: int, answered_s: int, expected: str
) -> None:
    fetcher: Fetcher[MirrorPartition] = Fetcher(("m", 1, 0), Endpoint("a-1", 9092))
    fetcher.in_flight, fetcher.asked_at, fetcher.answered_at = in_flight, asked_s * SECOND, answered_s * SECOND
    configs = SimpleNamespace(integer=lambda _: WAIT_MS)
    broker = SimpleNamespace(configs=configs, image=SimpleNamespace(topics={}))
    mp = SimpleNamespace(
        reason="", state=MirrorState.MIRRORING, is_failing=is_failing, fetcher=fetcher, tp=TopicPartition("t", 0),
        assignment=SimpleNamespace(mirror="m"),
    )  # fmt: skip
    context = SimpleNamespace(
        broker=broker,
        sources={},
        proved={},
        replicas=SimpleNamespace(partitions=SimpleNamespace(find_led=lambda tp: None)),
    )
    assert _reason(context, NOW, mp) == expected  # type: ignore[arg-type]


@pytest.mark.decision("D38")
@pytest.mark.parametrize(
    ("reason", "short", "expected"),
    [
        ("", [], "waiting for the state from the mirror's coordinator"),
        ("it did not answer", [], "it did not answer"),
        ("", ["__mirror_state-3 has no leader"], "__mirror_state-3 has no leader"),
    ],
)
def test_a_state_that_is_not_known_has_a_reason(reason: str, short: list[str], expected: str) -> None:
    mp = SimpleNamespace(
        reason=reason, state=None, topic_id=Uuid.ZERO, tp=TopicPartition("t", 0),
        assignment=SimpleNamespace(mirror="m"),
    )  # fmt: skip
    coordinator = SimpleNamespace(unwritable=lambda shards: short, shard_of=lambda key: 0)
    image = SimpleNamespace(configs=SimpleNamespace(of_type=lambda kind: {}, names=lambda kind: ()))
    context = SimpleNamespace(coordinator=coordinator, broker=SimpleNamespace(image=image))
    assert _reason(context, NOW, mp) == expected  # type: ignore[arg-type]
