"""Persistent storage of a node: log directories with one store per partition.

Data of a `MemoryDisk` survives a kill of the process, as data in the page cache does. A power cut loses data that was
not flushed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple, Protocol

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import Allocate, Clock, MemoryStore
from kmirror.log.store import PartitionStore


class Room(NamedTuple):
    """Total and usable size of a file system in bytes, -1 if unknown."""

    total_bytes: int
    usable_bytes: int


class OfflineLogDir(NamedTuple):
    """A log directory that cannot be opened. The node starts without it, as Kafka's brokers do."""

    log_dir: str
    reason: str


class Disk(Protocol):
    """One log directory (entry of `log.dirs`) of a node. Methods raise OSError if the disk fails."""

    @property
    def log_dir(self) -> str:
        """Absolute path, as reported to clients and administrators."""
        ...

    @property
    def directory_id(self) -> Uuid:
        """The `directory.id` that identifies it to the controller (KIP-858)."""
        ...

    def room(self) -> Room:
        """Return the current size and free space."""
        ...

    def is_open(self, tp: TopicPartition) -> bool:
        """Return whether the partition's store was opened and since then neither deleted nor set aside."""
        ...

    def open_count(self) -> int:
        """Return the number of partitions for which `is_open` is true."""
        ...

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions that have a folder, in a stable order."""
        ...

    def open(self, tp: TopicPartition) -> PartitionStore:
        """Return the partition's store; creates an empty one if there is none."""
        ...

    def delete(self, tp: TopicPartition) -> None:
        """Remove the partition's store."""
        ...

    def set_aside(self, tp: TopicPartition, *, is_stray: bool = False) -> str:
        """Detach the partition's store at once; return the name with which `purge` removes it.

        A stray partition gets a different name and is never purged; the user decides about it.
        """
        ...

    def purge(self, name: str) -> None:
        """Remove a partition that was set aside; may run concurrently with other calls."""
        ...

    def leftovers(self) -> list[str]:
        """Return the `purge` names of the partitions that were set aside and still exist, in a stable order."""
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Defer writing the files shared by all partitions (checkpointed offsets) until `write_shared`."""
        ...

    def write_shared(self) -> None:
        """Write the deferred files once, in their current state; may run concurrently with other calls."""
        ...

    def read_file(self, name: str) -> bytes | None:
        """Return the content of a file that belongs to no partition, or None if there is none."""
        ...

    def write_file(self, name: str, data: bytes) -> None:
        """Create or replace the file atomically, safe from a power cut."""
        ...

    def delete_file(self, name: str) -> None:
        """Remove the file, if it exists."""
        ...


Disks = Sequence[Disk | OfflineLogDir]
"""The log directories of one node, in the order of `log.dirs`."""

MEMORY: Final = "/memory"
"""Default path of a disk in memory."""
MEMORY_ID: Final = Uuid.from_ints(1, 0)
"""Default id of that directory; nodes of one cluster must have different ids."""


class MemoryDisk:
    """A `Disk` in memory; `allocate` creates the buffers of its segments, `clock` gives their modification times.

    After `fail`, every call for which a real disk would read or write raises OSError, until `mend`.
    """

    def __init__(
        self,
        log_dir: str = MEMORY,
        directory_id: Uuid = MEMORY_ID,
        *,
        allocate: Allocate = bytearray,
        clock: Clock | None = None,
    ) -> None:
        self.log_dir = log_dir
        self.directory_id = directory_id
        self._allocate = allocate
        self._clock = clock
        self._stores: dict[TopicPartition, MemoryStore] = {}
        self._files: dict[str, bytes] = {}
        self._fault: OSError | None = None

    def fail(self, error: OSError) -> None:
        """Make every write, truncation, flush and open raise `error` from now on; the data stays."""
        self._fault = error
        for store in self._stores.values():
            store.fault = error

    def mend(self) -> None:
        """End the fault set by `fail`."""
        self._fault = None
        for store in self._stores.values():
            store.fault = None

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def room(self) -> Room:
        self._check()
        return Room(-1, -1)

    def is_open(self, tp: TopicPartition) -> bool:
        return tp in self._stores

    def open_count(self) -> int:
        return len(self._stores)

    def partitions(self) -> list[TopicPartition]:
        self._check()
        return sorted(self._stores)

    def open(self, tp: TopicPartition) -> MemoryStore:
        self._check()
        return self._stores.setdefault(tp, MemoryStore(allocate=self._allocate, clock=self._clock))

    def written(self, tp: TopicPartition) -> MemoryStore | None:
        """Return the data of a partition, also after a disk failure; None if there is none."""
        return self._stores.get(tp)

    def cut_power(self, rng: Rng) -> int:
        """Lose unflushed data: truncate each segment at a byte drawn by `rng`. Return the number of bytes lost."""
        return sum(
            self._stores[tp].cut_power(lambda unflushed: rng.below(unflushed + 1)) for tp in sorted(self._stores)
        )

    def put(self, tp: TopicPartition, store: MemoryStore) -> None:
        """Add a partition folder that was written elsewhere."""
        self._stores[tp] = store
        store.clock, store.fault = self._clock, self._fault

    def delete(self, tp: TopicPartition) -> None:
        self._check()
        self._stores.pop(tp, None)

    def set_aside(self, tp: TopicPartition, *, is_stray: bool = False) -> str:
        self.delete(tp)
        return str(tp)

    def purge(self, name: str) -> None:
        pass

    def leftovers(self) -> list[str]:
        return []

    def batch(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write_shared(self) -> None:
        self._check()

    def read_file(self, name: str) -> bytes | None:
        self._check()
        return self._files.get(name)

    def write_file(self, name: str, data: bytes) -> None:
        self._check()
        self._files[name] = data

    def delete_file(self, name: str) -> None:
        self._check()
        self._files.pop(name, None)
