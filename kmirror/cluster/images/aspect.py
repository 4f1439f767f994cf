"""What the aspects of the metadata image have in common: the records that they replay, and those of a snapshot.

An aspect is one file. Its image replays records; its table merges records with records for a snapshot, so that what a
Kafka of another release wrote stays, each record in the version in which it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from kmirror.cluster.images.delta import Delta
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.protocol.message import Message

K = TypeVar("K")
V = TypeVar("V")

Replays = Mapping[type[Message], Callable[[Any, Delta], None]]
"""Type of a record to the method that replays it, and adds to the delta what it changed."""
Merges = Mapping[type[Message], Callable[[Any, int], None]]
"""Type of a record to the method that merges it, given the record's version."""


class Aspect(Protocol):
    """One aspect of the image of a cluster."""

    def replays(self) -> Replays:
        """Return the records which this aspect replays."""

    def add_difference(self, before: Any, delta: Delta) -> None:
        """Add to `delta` what differs from the same aspect of an earlier image; what came and went is not seen."""


class RecordTable(Protocol):
    """The records of one aspect that are left of a metadata log: those of a snapshot."""

    def merges(self) -> Merges:
        """Return the records which this table merges; it may change them later."""

    def records(self) -> Iterable[VersionedMessage]:
        """Return what is left, in an order in which it can be replayed."""


@dataclass(frozen=True, slots=True)
class Latest:
    """An aspect whose records do not depend on each other: of each key, the latest one counts."""

    keys: Mapping[type[Message], Callable[[Any], Hashable]]
    """Type of a record to the function that returns its key."""
    removes: Callable[[Message], bool] = lambda record: False
    """Returns whether a record removes its key."""


class _Kept(Generic[V]):
    def __init__(self, aspect: Latest) -> None:
        self._aspect = aspect
        self.latest: dict[Hashable, V] = {}

    def put(self, record: Message, value: V) -> None:
        """Keep `value` under the key of `record`, or remove that key."""
        key = self._aspect.keys[type(record)](record)
        if self._aspect.removes(record):
            self.latest.pop(key, None)
        else:
            self.latest[key] = value


class LatestImage(_Kept[Message]):
    """The image of such an aspect."""

    def replays(self) -> Replays:
        return dict.fromkeys(self._aspect.keys, lambda record, delta: self.put(record, record))

    def add_difference(self, before: LatestImage, delta: Delta) -> None:
        """Add nothing: no part of a node follows these records yet."""


class LatestTable(_Kept[VersionedMessage]):
    """The records of such an aspect in a snapshot, in the order in which their keys came."""

    def merges(self) -> Merges:
        return dict.fromkeys(
            self._aspect.keys, lambda record, version: self.put(record, VersionedMessage(record, version))
        )

    def records(self) -> Iterable[VersionedMessage]:
        return self.latest.values()


def changed(old: Mapping[K, object], new: Mapping[K, object]) -> dict[K, None]:
    """Return the keys whose values differ, as an ordered set."""
    return {key: None for key in {**old, **new} if old.get(key) != new.get(key)}


def by_type(tables: Iterable[Mapping[type[Message], V]]) -> dict[type[Message], tuple[V, ...]]:
    """Return the methods of all tables for each type of record, in the order of the tables."""
    merged: dict[type[Message], tuple[V, ...]] = {}
    for table in tables:
        for kind, method in table.items():
            merged[kind] = (*merged.get(kind, ()), method)
    return merged
