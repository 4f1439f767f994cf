"""Faults planted into DescribeMirrors: wrong descriptions of partitions.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.histories import describing
from kmirror.mirror import fetchers, lag
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.partition import MirrorPartition
from tests.sim.histories.planted import Patch, fault


@fault("described-wrong", profile="source_out_of_reach")
def reasons_are_not_described(patch: Patch) -> None:
    """DescribeMirrors does not return the reason why a partition waits (D38)."""
    patch(describe_mirrors, "_reason", lambda context, now, mp: "")
    patch(describe_mirrors, "_reason_of_mirror", lambda context, mirror: "")


@fault("described-wrong", profile="described_late")
def source_offset_of_the_first_answer(patch: Patch) -> None:
    """The source's offset is that of its first response."""

    def note_source(mp: Any, data: Any) -> None:
        before = mp.source_offset
        original(mp, data)
        if before >= 0:
            mp.source_offset = before

    original = patch(fetchers, "_record_source", note_source)


@fault("described-wrong", profile="described_late")
def reason_of_before_stays(patch: Patch) -> None:
    """The reason for a partition's wait is not cleared when records of the source arrive."""
    patch(describe_mirrors, "_reason", lambda context, now, mp: "the source's leader is not known")


@fault("described-wrong", profile="source_out_of_reach")
def lag_of_the_last_answer(patch: Patch) -> None:
    """The lag is reported as known, however old the source's response and its proof of leadership are (D62, D77)."""
    patch(MirrorPartition, "is_lag_known", lambda mp, now, max_age_us: True)
    patch(lag, "_is_proved", lambda *others: True)


@fault("described-wrong", profile="deposed_and_does_not_know")
def deposed_leader_is_believed(patch: Patch) -> None:
    """Of two brokers that describe a partition, the one with the higher id is believed (D62)."""

    def keep_last(rows: Any, mirror: Any) -> None:
        rows.update((row.tp, row) for row in describing.parse_rows(mirror))

    patch(describing, "keep_newest", keep_last)


@fault("described-wrong", profile="source_leader_deposed")
def lag_without_proof(patch: Patch) -> None:
    """A lag is reported as known although the source's leader has not proved that it still leads (D77)."""
    patch(lag, "_is_proved", lambda *others: True)
