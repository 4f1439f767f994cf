"""Faults planted into DescribeMirrors: what it says of partitions that is not so.

They are rows of tests/sim/histories/planted.py, which says what a fault is.
"""

from __future__ import annotations

from typing import Any

from kmirror.histories import describing
from kmirror.mirror import fetchers, lag
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.partition import MirrorPartition
from tests.sim.histories.planted import Patch, fault


@fault("described-wrong", profile="source_out_of_reach")
def reasons_are_not_told(patch: Patch) -> None:
    """DescribeMirrors does not say why a partition waits (D38)."""
    patch(describe_mirrors, "_reason", lambda context, now, mp: "")
    patch(describe_mirrors, "_reason_of_mirror", lambda context, mirror: "")


@fault("described-wrong", profile="looked_at_late")
def source_offset_of_the_first_answer(patch: Patch) -> None:
    """The source's offset is the one that its first answer told."""

    def note_source(mp: Any, data: Any) -> None:
        before = mp.source_offset
        original(mp, data)
        if before >= 0:
            mp.source_offset = before

    original = patch(fetchers, "_note_source", note_source)


@fault("described-wrong", profile="looked_at_late")
def reason_of_before_stays(patch: Patch) -> None:
    """Records that come from the source do not end the reason for which the partition had waited."""
    patch(describe_mirrors, "_reason", lambda context, now, mp: "the source's leader is not known")


@fault("described-wrong", profile="source_out_of_reach")
def lag_of_the_last_answer(patch: Patch) -> None:
    """The lag is known however long ago the source has answered, or proved that it leads (D62, D77)."""
    patch(MirrorPartition, "is_lag_known", lambda mp, now, max_age_us: True)
    patch(lag, "_is_proved", lambda *others: True)


@fault("described-wrong", profile="deposed_and_does_not_know")
def deposed_leader_is_believed(patch: Patch) -> None:
    """Of two brokers that describe a partition the one with the greater id is believed (D62)."""

    def keep_last(rows: Any, mirror: Any) -> None:
        rows.update((row.tp, row) for row in describing.rows_in(mirror))

    patch(describing, "keep_newest", keep_last)


@fault("described-wrong", profile="source_leader_deposed")
def lag_without_proof(patch: Patch) -> None:
    """A lag is known though the source's leader has not proved that it still leads (D77)."""
    patch(lag, "_is_proved", lambda *others: True)
