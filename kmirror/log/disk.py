"""What a broker keeps when its process dies: one store for each partition, by name.

`MemoryDisk` survives a killed process as a page cache does. A power cut takes what was not flushed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple, Protocol

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.log.memory_store import Allocate, MemoryStore
from kmirror.log.store import PartitionStore


class LogDir(NamedTuple):
    """One log directory: its path, and the room on its file system in bytes, -1 where nobody knows."""

    path: str
    total_bytes: int
    usable_bytes: int


class Disk(Protocol):
    """The log directory of one node."""

    def log_dirs(self) -> list[LogDir]:
        """Return where partitions lie, with the room that there is now."""
        ...

    def log_dir_of(self, tp: TopicPartition) -> str:
        """Return the path of the directory that a partition lies in."""
        ...

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions that have a folder, in a stable order."""
        ...

    def open(self, tp: TopicPartition) -> PartitionStore:
        """Return the partition's store; an empty one is made if there is none."""
        ...

    def delete(self, tp: TopicPartition) -> None:
        """Remove the partition's store."""
        ...

    def set_aside(self, tp: TopicPartition, *, is_stray: bool = False) -> str:
        """Have the partition no store any more, at once; return the name by which `purge` removes what is left.

        What is a stray one is left to the user: it bears another name, and nobody purges it.
        """
        ...

    def purge(self, name: str) -> None:
        """Remove what is left of a partition that was set aside; may run beside other calls."""
        ...

    def leftovers(self) -> list[str]:
        """Return the names by which `purge` removes what was set aside and is still there, in a stable order."""
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Put off writing what partitions share, their checkpointed offsets, until `write_shared`."""
        ...

    def write_shared(self) -> None:
        """Write, once, what was put off, as it is by now; may run beside other calls."""
        ...

    def read_file(self, name: str) -> bytes | None:
        """Return a file that belongs to no partition, or None where there is none."""
        ...

    def write_file(self, name: str, data: bytes) -> None:
        """Create that file or replace it as a whole, safe from a power cut."""
        ...

    def delete_file(self, name: str) -> None:
        """Remove that file; no such file is fine."""
        ...


MEMORY: Final = "/memory"
"""What a disk in memory calls its directory."""


class MemoryDisk:
    """A `Disk` in memory; `allocate` gives the buffers of its segments."""

    def __init__(self, *, allocate: Allocate = bytearray) -> None:
        self._allocate = allocate
        self._stores: dict[TopicPartition, MemoryStore] = {}
        self._files: dict[str, bytes] = {}

    def log_dirs(self) -> list[LogDir]:
        return [LogDir(MEMORY, -1, -1)]

    def log_dir_of(self, tp: TopicPartition) -> str:
        return MEMORY

    def partitions(self) -> list[TopicPartition]:
        return sorted(self._stores)

    def open(self, tp: TopicPartition) -> MemoryStore:
        return self._stores.setdefault(tp, MemoryStore(allocate=self._allocate))

    def cut_power(self, rng: Rng) -> int:
        """Lose what was not flushed, each segment from a byte that `rng` draws; return how many bytes went."""
        return sum(self._stores[tp].cut_power(lambda unflushed: rng.below(unflushed + 1)) for tp in self.partitions())

    def put(self, tp: TopicPartition, store: MemoryStore) -> None:
        """Lay down a partition folder that was written elsewhere."""
        self._stores[tp] = store

    def delete(self, tp: TopicPartition) -> None:
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
        pass

    def read_file(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write_file(self, name: str, data: bytes) -> None:
        self._files[name] = data

    def delete_file(self, name: str) -> None:
        self._files.pop(name, None)
