"""What does a shard hold now, and what of it is committed? Values by key, and the way back.

A shard's leader applies a record when it appends it, so that the next decision builds on it. Until the high watermark
has passed the record, the value before it is kept: it is what is committed, and what an append that was refused goes
back to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from kmirror.records import layout

K = TypeVar("K")
V = TypeVar("V")


class LoggedRecord(NamedTuple):
    """One record of a shard's log, and what its batch says of it."""

    key: bytes
    value: bytes | None
    """None for a tombstone."""
    offset: int = -1
    producer_id: int = layout.NO_PRODUCER_ID
    """Whose transaction the record is part of; NO_PRODUCER_ID if of none."""


class Versioned(Generic[K, V]):
    """Values by key: the newest ones and the committed ones."""

    def __init__(self) -> None:
        self._newest: dict[K, V] = {}
        self._versions: dict[K, list[V | None]] = {}
        """Keys with changes that are not committed, to their values: the committed one first, the newest one last."""
        self._drafted: list[K] = []
        """The keys of the changes since the last `seal`, one for each change."""
        self._sealed: deque[tuple[int, list[K]]] = deque()
        """(end offset, keys of the changes) of batches in the log that are not known to be committed."""

    def get(self, key: K) -> V | None:
        """Return the newest value, or None if there is none; it may still be lost."""
        return self._newest.get(key)

    def keys(self) -> list[K]:
        """Return the keys that have a newest value."""
        return list(self._newest)

    def put(self, key: K, value: V | None) -> None:
        """Change a value, or remove it with None."""
        self._versions.setdefault(key, [self._newest.get(key)]).append(value)
        self._drafted.append(key)
        self._set(key, value)

    def committed(self, key: K) -> V | None:
        """Return the value that no election can take back, or None if there is none."""
        versions = self._versions.get(key)
        return self._newest.get(key) if versions is None else versions[0]

    def is_pending(self, key: K) -> bool:
        """Return whether a change of this value is not committed yet."""
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

    def seal(self, end: int) -> None:
        """Note that the changes since the last call are in the log, below offset `end`."""
        if self._drafted:
            self._sealed.append((end, self._drafted))
            self._drafted = []

    def commit(self, high_watermark: int) -> None:
        """Let what lies below `high_watermark` count as committed."""
        while self._sealed and self._sealed[0][0] <= high_watermark:
            _, keys = self._sealed.popleft()
            for key in keys:
                versions = self._versions[key]
                del versions[0]
                if len(versions) == 1:
                    del self._versions[key]

    def revert(self) -> None:
        """Take back the changes since the last `seal`: their append was refused."""
        for key in reversed(self._drafted):
            versions = self._versions[key]
            del versions[-1]
            self._set(key, versions[-1])
            if len(versions) == 1:
                del self._versions[key]
        self._drafted = []

    def _set(self, key: K, value: V | None) -> None:
        if value is None:
            self._newest.pop(key, None)
        else:
            self._newest[key] = value


class Tables:
    """Tables of the same log: what happens to the log happens to each of them."""

    def __init__(self, *tables: Tables | Versioned[Any, Any]) -> None:
        self._tables = tables

    def seal(self, end: int) -> None:
        """Note that the changes since the last call are in the log, below offset `end`."""
        for table in self._tables:
            table.seal(end)

    def commit(self, high_watermark: int) -> None:
        """Let what lies below `high_watermark` count as committed."""
        for table in self._tables:
            table.commit(high_watermark)

    def revert(self) -> None:
        """Take back the changes since the last `seal`: their append was refused."""
        for table in self._tables:
            table.revert()


class ShardState(ABC, Tables):
    """The tables of one shard; a subclass says what its records mean."""

    COUNTS_IN_PART: ClassVar[bool] = False
    """Whether a log that cannot be read to its end is taken for what was read of it."""

    @abstractmethod
    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of the shard's log to the tables, or pass over one of an unknown type.

        Raises `ProtocolError` for one that cannot be read.
        """

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Apply a transaction marker of the shard's log. A shard that is never written in transactions ignores it."""


class TableShard(Versioned[K, V], ShardState):
    """A shard that is one table, into which `replay` puts."""
