"""disk-use: segments that it reports, and segments that may exist."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kmirror.histories.disk_account import ReplicaFiles
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import TP, Hand, rows

AT = 100 * SECOND
SEGMENTS = ((5, 100), (15, 100), (25, 50))
LEADER = ReplicaFiles(
    "a", TP, 1, True, "", 10, 30, 180, SEGMENTS, (), 5_000, ("delete",), -1, -1, 80 * SECOND, ((80 * SECOND, 10),),
    10 * SECOND, AT,
)  # fmt: skip
"""An unmirrored leader without changes for longer than the broker's interval of retention checks."""


def found(*kept: ReplicaFiles, hand: Hand | None = None) -> list[str]:
    hand = hand or Hand()
    hand.account.disks.replicas = list(kept)
    return [anomaly.text for anomaly in hand.judged()[0] if anomaly.checker == "disk-use"]


def findings_with(**changes: Any) -> list[str]:
    return found(replace(LEADER, **changes))


def test_a_log_that_starts_within_its_first_segment_is_not_reported() -> None:
    assert findings_with() == []


@pytest.mark.parametrize(
    ("starts", "since", "expected"),
    [
        (((80 * SECOND, 15),), 80, True),
        (((80 * SECOND, 14),), 80, False),  # The log start is in the first segment.
        (((80 * SECOND, 10), (91 * SECOND, 15)), 80, False),  # The broker has made no check since then.
        (((80 * SECOND, 10), (90 * SECOND, 15)), 80, True),
        (((91 * SECOND, 15),), 91, False),  # It has just started.
    ],
)
def test_a_segment_below_the_log_start_is_removed_at_the_brokers_check(
    starts: tuple[tuple[int, int], ...], since: int, expected: bool
) -> None:
    told = findings_with(log_start_offset=starts[-1][1], starts=starts, unchanged_since=since * SECOND)
    assert ["segment 5 still exists" in text for text in told] == [True] * expected


def test_files_of_deleted_segments_are_reported() -> None:
    assert findings_with(files_below=("00000000000000000003.snapshot",))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"retention_ms": 4_000, "first_age_ms": 14_001}, True),
        ({"retention_ms": 4_000, "first_age_ms": 14_000}, False),  # The broker checks every ten seconds.
        ({"retention_ms": 4_000, "first_age_ms": 14_001, "unchanged_since": 91 * SECOND}, False),
        ({"retention_ms": 4_000, "first_age_ms": 14_001, "policies": ("compact",)}, False),
        ({"retention_ms": 4_000, "first_age_ms": 14_001, "mirror_state": "PAUSED"}, False),  # The source decides (D46).
        ({"retention_ms": 4_000, "first_age_ms": 14_001, "mirror_state": "STOPPED"}, True),
        ({"retention_bytes": 150}, True),
        ({"retention_bytes": 151}, False),
        ({"retention_bytes": 0, "segments": ((30, 0),), "log_start_offset": 30}, False),  # It is empty, and active.
    ],
)
def test_expired_segments_are_reported_after_the_brokers_check(changes: dict[str, Any], expected: bool) -> None:
    assert bool(findings_with(**changes)) is expected


def test_a_wrong_clock_may_put_retention_off() -> None:
    hand = Hand()
    hand.order("set_clock", "", "a", at=1, args={"ahead_ms": 5_000, "cluster": "a"})
    old = {"retention_ms": 4_000}
    assert found(replace(LEADER, **old, first_age_ms=19_000), hand=hand) == []  # type: ignore[arg-type]
    assert found(replace(LEADER, **old, first_age_ms=19_001), hand=hand)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("leader", "start", "expected"),
    [
        (((80 * SECOND, 10),), 9, True),
        (((80 * SECOND, 10),), 10, False),
        (((80 * SECOND, 10),), 12, False),  # Its own retention was earlier.
        (((80 * SECOND, 9), (99 * SECOND, 10)), 9, False),  # The leader's has just increased.
        (((80 * SECOND, 74), (85 * SECOND, 9)), 9, False),  # The leader's log has started from scratch.
        (((80 * SECOND, 74), (99 * SECOND, 9)), 8, True),
    ],
)
def test_a_follower_begins_no_lower_than_its_leader(
    leader: tuple[tuple[int, int], ...], start: int, expected: bool
) -> None:
    follower = replace(
        LEADER, broker=2, is_leader=False, log_start_offset=start, starts=((80 * SECOND, start),), segments=((5, 250),)
    )
    told = found(replace(LEADER, starts=leader), follower)
    assert [text for text in told if "its leader's" in text] == told and bool(told) is expected


def mirrored(**changes: Any) -> list[str]:
    """Return findings for a mirror in b that differs from its source by `changes`."""
    hand = Hand().stay("a", "b", began=1, mirroring=2)
    content = rows(*(f"v{n}" for n in range(20)), start=10)
    hand.final("a", content, start=10).final("b", content, start=10)
    kept: dict[str, Any] = {"cluster": "b", "mirror_state": "MIRRORING", **changes}
    if "log_start_offset" in changes:
        kept["starts"] = ((80 * SECOND, changes["log_start_offset"]),)
    return found(LEADER, replace(LEADER, **kept), hand=hand)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"log_start_offset": 9}, "that of its source a"),
        ({"log_start_offset": 9, "mirror_state": "PAUSED"}, ""),  # It follows again when it is resumed.
        ({"log_start_offset": 9, "unchanged_since": 97 * SECOND}, ""),
        ({"log_start_offset": 12}, ""),  # Its own retention had already raised its log start (D56).
        ({"size": 181}, "it keeps 181 bytes between offsets 10 and 30, but its source a keeps 180"),
        ({"size": 181, "log_end_offset": 31}, ""),  # Another checker covers records beyond the source's end.
        ({"size": 170, "policies": ("compact",)}, ""),
        ({"segments": ((0, 900), (25, 50))}, ""),  # It rolls its segments independently: the first one is longer.
    ],
)
def test_a_mirror_keeps_the_records_of_its_source(changes: dict[str, Any], told: str) -> None:
    texts = mirrored(**changes)
    assert len(texts) == bool(told) and all(told in text for text in texts)


def test_a_cleaner_that_rewrote_batches_leaves_other_bytes_after_compaction_is_off() -> None:
    hand = Hand().stay("a", "b", began=1, mirroring=2)
    hand.order("alter_topic", "", "a", at=10, args={"name": "cleanup.policy", "value": "compact"})
    hand.order("reset_topic", "", "a", at=20, args={"name": "cleanup.policy"})
    assert found(LEADER, replace(LEADER, cluster="b", mirror_state="MIRRORING", size=181), hand=hand) == []


@pytest.mark.decision("D53")
@pytest.mark.parametrize(("release", "expected"), [("2.1", False), ("", True)])
def test_a_mirror_may_keep_records_of_another_topic_of_its_source(release: str, expected: bool) -> None:
    hand = Hand().stay("a", "b", began=1, mirroring=2).plays("a", release)
    hand.topic("a", "one", at=0).topic("a", "one", at=30, exists=False).topic("a", "one", at=31)
    told = found(LEADER, replace(LEADER, cluster="b", mirror_state="MIRRORING", size=181), hand=hand)
    assert bool(told) is expected


def test_a_mirror_that_is_not_at_rest_is_not_compared_with_its_source() -> None:
    hand = Hand().stay("a", "b", began=1, mirroring=2)
    hand.account.unsettled.append(("b", TP, "waits"))
    late = replace(LEADER, cluster="b", mirror_state="MIRRORING", log_start_offset=9, starts=((80 * SECOND, 9),))
    assert found(LEADER, late, hand=hand) == []


def test_leftover_partitions_are_reported() -> None:
    hand = Hand()
    hand.account.disks.leftovers = [("a", 2, TP, "the cluster has no such partition")]
    assert found(hand=hand) == [f"broker 2 of a keeps {TP} on its disk: the cluster has no such partition"]


@pytest.mark.parametrize(("risen_at", "expected"), [(96, True), (97, False)])
def test_a_mirror_learns_a_higher_log_start_of_its_source_a_little_later(risen_at: int, expected: bool) -> None:
    hand = Hand().stay("a", "b", began=1, mirroring=2)
    source = replace(LEADER, log_start_offset=12, starts=((80 * SECOND, 10), (risen_at * SECOND, 12)))
    mirror = replace(LEADER, cluster="b", mirror_state="MIRRORING")
    assert bool(found(source, mirror, hand=hand)) is expected
