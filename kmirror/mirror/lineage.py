"""Which cluster wrote which leader epochs of a log? Pure functions (D45).

Every cluster counts leader epochs for itself, so two logs may use the same number for records of different clusters.
Within one cluster a number is used once: by one leader, for one run of records. So two logs are equal up to the last
epoch below which the same clusters wrote the same epochs; above it they have nothing in common.

A cluster that fails over continues in an epoch of its own: its lineage is that of its source and one more stretch. A
log that was never mirrored has one stretch, its own cluster's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol


class Stretch(NamedTuple):
    """Leader epochs from `first_epoch` up to the next stretch's were written by one cluster."""

    first_epoch: int
    cluster_id: str


Stretches = tuple[Stretch, ...]
"""Ascending by epoch; neighbours are of different clusters."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The lineage of one log, as it is persisted with the state."""

    stretches: Stretches = ()
    """Empty while only this cluster wrote the log."""
    since: int = -1
    """Leader epoch from which on this holds; nothing is appended in an earlier one (D45)."""


OWN = Lineage()


def written_by(cluster_id: str) -> Stretches:
    """Return the lineage of a log that was written by one cluster alone."""
    return (Stretch(0, cluster_id),)


def written_on(stretches: Stretches, epoch: int, cluster_id: str) -> Stretches:
    """Return the lineage after `cluster_id` becomes the writer from `epoch` on."""
    before = tuple(stretch for stretch in stretches if stretch.first_epoch < epoch)
    return before if before and before[-1].cluster_id == cluster_id else (*before, Stretch(epoch, cluster_id))


def shared_epoch(one: Stretches, other: Stretches) -> int | None:
    """Return the last leader epoch up to which both were written by the same clusters.

    None if they have the same writers throughout, -1 if they have no epoch in common.
    """
    for epoch in sorted({stretch.first_epoch for stretch in (*one, *other)}):
        if _writer(one, epoch) != _writer(other, epoch):
            return max(-1, epoch - 1)
    return None


def _writer(stretches: Stretches, epoch: int) -> str | None:
    found = None
    for stretch in stretches:
        if stretch.first_epoch <= epoch:
            found = stretch.cluster_id
    return found


class StretchRow(Protocol):
    """The fields of a stretch in each message that has a lineage."""

    first_epoch: int
    cluster_id: str


def stretches_from(rows: Iterable[StretchRow]) -> Stretches:
    """Return the lineage that the rows of a message hold."""
    return tuple(sorted(Stretch(row.first_epoch, row.cluster_id) for row in rows))


def text_of(lineages: Mapping[int, Stretches]) -> str:
    """Return the lineages of a topic's partitions as the value of a config; those that are alike stand there once."""
    alike: dict[Stretches, list[int]] = {}
    for partition in sorted(lineages):
        alike.setdefault(lineages[partition], []).append(partition)
    return json.dumps([[partitions, stretches] for stretches, partitions in alike.items()], separators=(",", ":"))


@lru_cache(maxsize=4096)
def lineages_in(text: str) -> Mapping[int, Stretches]:
    """Return the lineages in a text of `text_of`, by partition; none in an empty text. Do not change the result."""
    return {
        partition: tuple(Stretch(epoch, cluster) for epoch, cluster in stretches)
        for partitions, stretches in json.loads(text or "[]")
        for partition in partitions
    }
