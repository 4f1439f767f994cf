"""Lineages: the clusters that wrote the leader epochs of a log. Pure functions (D45).

Every cluster counts leader epochs for itself, so two logs may use the same number for records of different clusters.
Within one cluster a number is used once: by one leader, for one run of records. So two logs are equal up to the last
epoch below which the same clusters wrote the same epochs; above it they have nothing in common.

A cluster that fails over continues in an epoch of its own: its lineage is that of its source plus one stretch. A log
that was never mirrored has one stretch, its own cluster's.

A cluster that copies a compacted log from scratch writes no epoch of its own, but the new copy may lack records of the
former one. So its lineage gets a *copy*, a row with an epoch below 0: -1 - e if the copy holds from its leader epoch e
on. A cluster reports its own copy to its mirrors, and remembers the copy of its source that it has followed (D69).

A topic without an id at its source may be another topic with each copy from scratch. So the epochs that such a source
wrote have, instead of the source's id, a name that the copy got here; mirrors of this log inherit the name (D53).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol


class Stretch(NamedTuple):
    """The leader epochs from `first_epoch` up to the next stretch's, written by one cluster."""

    first_epoch: int
    cluster_id: str


Stretches = tuple[Stretch, ...]
"""Ascending by epoch; neighbours are of different clusters. Epochs below 0 are copies (D69)."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage of one log, as it is persisted with the state."""

    stretches: Stretches = ()
    """Empty while only this cluster wrote the log."""
    valid_from_epoch: int = -1
    """The leader epoch from which on this holds; nothing is appended in an earlier one (D45)."""


OWN_LINEAGE = Lineage()


def single_stretch(cluster_id: str) -> Stretches:
    """Return the lineage of a log that was written by one cluster alone."""
    return (Stretch(0, cluster_id),)


def with_writer(stretches: Stretches, epoch: int, cluster_id: str) -> Stretches:
    """Return the lineage after `cluster_id` becomes the writer from `epoch` on."""
    before = tuple(stretch for stretch in stretches if stretch.first_epoch < epoch)
    return before if before and before[-1].cluster_id == cluster_id else (*before, Stretch(epoch, cluster_id))


def with_copy(stretches: Stretches, epoch: int, cluster_id: str) -> Stretches:
    """Return the lineage after `cluster_id` copied the log from scratch; it holds from leader epoch `epoch` on."""
    return tuple(sorted((Stretch(-1 - epoch, cluster_id), *_without_copy(stretches, cluster_id))))


def begin_copy(stretches: Stretches, leader_epoch: int, cluster_id: str) -> Lineage:
    """Return the lineage of a log whose leader will copy it from scratch; it holds from the next leader epoch on."""
    return Lineage(with_copy(stretches, leader_epoch + 1, cluster_id), leader_epoch + 1)


def reported_stretches(stretches: Stretches, cluster_id: str) -> Stretches:
    """Return the rows that `cluster_id` reports to the mirrors of its log: of the copies only its own."""
    return tuple(row for row in stretches if row.first_epoch >= 0 or row.cluster_id == cluster_id)


def adopt(own_stretches: Stretches, source: Stretches, cluster_id: str) -> Stretches:
    """Return the lineage of the log of `cluster_id` once it follows its source's."""
    own = (row for row in own_stretches if row.first_epoch < 0 and row.cluster_id == cluster_id)
    return tuple(sorted((*own, *_without_copy(source, cluster_id))))


def is_copied_again(own_stretches: Stretches, source: Stretches, cluster_id: str) -> bool:
    """Return whether the source has begun another copy than the one that `cluster_id` followed last."""
    followed, present = (
        {row for row in _without_copy(stretches, cluster_id) if row.first_epoch < 0}
        for stretches in (own_stretches, source)
    )
    return followed != present


def _without_copy(stretches: Stretches, cluster_id: str) -> Stretches:
    return tuple(row for row in stretches if row.first_epoch >= 0 or row.cluster_id != cluster_id)


def with_copy_name(source: Stretches, source_id: str, cluster_id: str, valid_from_epoch: int) -> Stretches:
    """Return the lineage that `cluster_id` adopts from a source without topic ids: the source's epochs get a new name.

    No other copy has that name: `valid_from_epoch` is a local leader epoch, and the epochs of a topic that is created
    again under its former id continue above the former ones (D49).
    """
    return _rename_writer(source, source_id, f"{source_id}/{cluster_id}/{valid_from_epoch}")


def with_local_names(source: Stretches, source_id: str, own_stretches: Stretches) -> Stretches:
    """Return the source's lineage with the name that our copy of its log has got, if it has one."""
    name = _writer(own_stretches, 0) or ""
    return _rename_writer(source, source_id, name) if name.startswith(f"{source_id}/") else source


def _rename_writer(source: Stretches, source_id: str, name: str) -> Stretches:
    return tuple(Stretch(0, name) if row == (0, source_id) else row for row in source)


def shared_epoch(one: Stretches, other: Stretches) -> int | None:
    """Return the last leader epoch up to which both were written by the same clusters.

    None if they have the same writers throughout, -1 if they have no epoch in common.
    """
    for epoch in sorted({stretch.first_epoch for stretch in (*one, *other) if stretch.first_epoch >= 0}):
        if _writer(one, epoch) != _writer(other, epoch):
            return max(-1, epoch - 1)
    return None


def _writer(stretches: Stretches, epoch: int) -> str | None:
    found = None
    for stretch in stretches:
        if 0 <= stretch.first_epoch <= epoch:
            found = stretch.cluster_id
    return found


class StretchRow(Protocol):
    """The fields of a stretch in each message that has a lineage."""

    first_epoch: int
    cluster_id: str


def stretches_from(rows: Iterable[StretchRow]) -> Stretches:
    """Return the lineage in the rows of a message."""
    return tuple(sorted(Stretch(row.first_epoch, row.cluster_id) for row in rows))


def to_text(lineages: Mapping[int, Stretches]) -> str:
    """Return the lineages of a topic's partitions as the value of a config; equal ones are written once."""
    partitions_by_lineage: dict[Stretches, list[int]] = {}
    for partition in sorted(lineages):
        partitions_by_lineage.setdefault(lineages[partition], []).append(partition)
    return json.dumps(
        [[partitions, stretches] for stretches, partitions in partitions_by_lineage.items()], separators=(",", ":")
    )


@lru_cache(maxsize=4096)
def parse_lineages(text: str) -> Mapping[int, Stretches]:
    """Return the lineages in a result of `to_text`, by partition; none for an empty text. Do not modify the result."""
    return {
        partition: tuple(Stretch(epoch, cluster) for epoch, cluster in stretches)
        for partitions, stretches in json.loads(text or "[]")
        for partition in partitions
    }
