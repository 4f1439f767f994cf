"""Common parts of the aspects of the metadata image: replay of records, and merging of records for a snapshot.

An aspect is one file. Its image replays records. Its table merges records into records for a snapshot, so that records
of other Kafka releases are kept, each in the version in which it was written.
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
"""Record type -> method that replays it and adds the changes to the delta."""
Merges = Mapping[type[Message], Callable[[Any, int], None]]
"""Record type -> method that merges it, given the record's version."""


class Aspect(Protocol):
    """One aspect of the image of a cluster."""

    def replays(self) -> Replays:
        """Return the records that this aspect replays."""

    def add_difference(self, before: Any, delta: Delta) -> None:
        """Add the differences from an earlier image of this aspect to `delta`; temporary changes are not visible."""


class RecordTable(Protocol):
    """The records of one aspect in a snapshot, merged from a metadata log."""

    def merges(self) -> Merges:
        """Return the records that this table merges; it may modify them later."""

    def records(self) -> Iterable[VersionedMessage]:
        """Return the merged records, in an order in which they can be replayed."""


@dataclass(frozen=True, slots=True)
class KeyedAspect:
    """An aspect whose records are independent: the latest record of each key is valid."""

    keys: Mapping[type[Message], Callable[[Any], Hashable]]
    """Record type -> function that returns the key of a record."""
    removes: Callable[[Message], bool] = lambda record: False
    """Returns whether a record removes its key."""


class _LatestByKey(Generic[V]):
    def __init__(self, aspect: KeyedAspect) -> None:
        self._aspect = aspect
        self.latest: dict[Hashable, V] = {}

    def put(self, record: Message, value: V) -> None:
        """Store `value` under the key of `record`, or remove that key."""
        key = self._aspect.keys[type(record)](record)
        if self._aspect.removes(record):
            self.latest.pop(key, None)
        else:
            self.latest[key] = value


class LatestImage(_LatestByKey[Message]):
    """The image of an aspect of type `KeyedAspect`."""

    def replays(self) -> Replays:
        return dict.fromkeys(self._aspect.keys, lambda record, delta: self.put(record, record))

    def add_difference(self, before: LatestImage, delta: Delta) -> None:
        """Add nothing: no part of a node follows these records yet."""


class LatestTable(_LatestByKey[VersionedMessage]):
    """The records of an aspect of type `KeyedAspect` in a snapshot, in the order in which their keys were added."""

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
    """Return the methods of all tables for each record type, in the order of the tables."""
    merged: dict[type[Message], tuple[V, ...]] = {}
    for table in tables:
        for kind, method in table.items():
            merged[kind] = (*merged.get(kind, ()), method)
    return merged
