"""Newest and committed values of a shard, and the rollback of changes.

A shard's leader applies a record when it appends it, so that the next decision builds on it. The previous value is kept
until the high watermark has passed the record: it is the committed value, and the one restored if the append fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from kmirror.records import layout

K = TypeVar("K")
V = TypeVar("V")


class LoggedRecord(NamedTuple):
    """One record of a shard's log, with its offset and producer."""

    key: bytes
    value: bytes | None
    """None for a tombstone."""
    offset: int = -1
    producer_id: int = layout.NO_PRODUCER_ID
    """Producer of the transaction that the record is part of; NO_PRODUCER_ID if it is not transactional."""


class Versioned(Generic[K, V]):
    """Values by key: the newest ones and the committed ones."""

    def __init__(self) -> None:
        self._newest: dict[K, V] = {}
        self._versions: dict[K, list[V | None]] = {}
        """Key with uncommitted changes -> its values, from the committed one to the newest one."""
        self._changed_keys: list[K] = []
        """The keys changed since the last `mark_appended`, one entry for each change."""
        self._appended: deque[tuple[int, list[K]]] = deque()
        """(end offset, changed keys) of the batches in the log that are not known to be committed."""

    def get(self, key: K) -> V | None:
        """Return the newest value, or None if there is none. It may not be committed yet."""
        return self._newest.get(key)

    def keys(self) -> list[K]:
        """Return the keys that have a newest value."""
        return list(self._newest)

    def put(self, key: K, value: V | None) -> None:
        """Set a value; None removes it."""
        self._versions.setdefault(key, [self._newest.get(key)]).append(value)
        self._changed_keys.append(key)
        self._set(key, value)

    def committed(self, key: K) -> V | None:
        """Return the committed value, which no election can revert, or None if there is none."""
        versions = self._versions.get(key)
        return self._newest.get(key) if versions is None else versions[0]

    def is_pending(self, key: K) -> bool:
        """Return whether this key has an uncommitted change."""
        return key in self._versions

    def all_committed(self) -> dict[K, V]:
        """Return the committed values by key."""
        found = dict(self._newest)
        for key, versions in self._versions.items():
            value = versions[0]
            if value is None:
                found.pop(key, None)
            else:
                found[key] = value
        return found

    def mark_appended(self, end: int) -> None:
        """Record that the changes since the last call are in the log below offset `end`."""
        if self._changed_keys:
            self._appended.append((end, self._changed_keys))
            self._changed_keys = []

    def commit(self, high_watermark: int) -> None:
        """Mark the changes below `high_watermark` as committed."""
        while self._appended and self._appended[0][0] <= high_watermark:
            _, keys = self._appended.popleft()
            for key in keys:
                versions = self._versions[key]
                del versions[0]
                if len(versions) == 1:
                    del self._versions[key]

    def revert(self) -> None:
        """Revert the changes since the last `mark_appended`, whose append failed."""
        for key in reversed(self._changed_keys):
            versions = self._versions[key]
            del versions[-1]
            self._set(key, versions[-1])
            if len(versions) == 1:
                del self._versions[key]
        self._changed_keys = []

    def _set(self, key: K, value: V | None) -> None:
        if value is None:
            self._newest.pop(key, None)
        else:
            self._newest[key] = value


class Tables:
    """Several tables of the same log, whose changes are committed and reverted together."""

    def __init__(self, *tables: Tables | Versioned[Any, Any]) -> None:
        self._tables = tables

    def mark_appended(self, end: int) -> None:
        """Record that the changes since the last call are in the log below offset `end`."""
        for table in self._tables:
            table.mark_appended(end)

    def commit(self, high_watermark: int) -> None:
        """Mark the changes below `high_watermark` as committed."""
        for table in self._tables:
            table.commit(high_watermark)

    def revert(self) -> None:
        """Revert the changes since the last `mark_appended`, whose append failed."""
        for table in self._tables:
            table.revert()


class ShardState(ABC, Tables):
    """The tables of one shard; a subclass interprets the records."""

    SERVED_IF_TRUNCATED: ClassVar[bool] = False
    """Whether the shard is served if its log can be read only in part."""

    @abstractmethod
    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of the shard's log to the tables, or ignore it if its type is unknown.

        Raises `ProtocolError` if it cannot be read.
        """

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Apply a transaction marker of the shard's log. Shards without transactional records ignore it."""


class TableShard(Versioned[K, V], ShardState):
    """A shard with a single table, which `replay` updates."""
