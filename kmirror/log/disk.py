"""What does a node keep when its process dies? In each of its log directories one store for each partition, by name.

`MemoryDisk` survives a killed process as a page cache does. A power cut takes what was not flushed.
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
    """The size of a file system and what is free of it, in bytes; -1 where nobody knows."""

    total_bytes: int
    usable_bytes: int


class OfflineLogDir(NamedTuple):
    """A log directory that cannot be opened: its node begins without it, as Kafka's brokers do."""

    log_dir: str
    reason: str


class Disk(Protocol):
    """One log directory of a node: an entry of `log.dirs`. Its calls raise OSError where the disk fails."""

    @property
    def log_dir(self) -> str:
        """Return its absolute path, by which it is known to clients and administrators."""
        ...

    @property
    def directory_id(self) -> Uuid:
        """Return its `directory.id`, by which the controller knows it (KIP-858)."""
        ...

    def room(self) -> Room:
        """Return the room that there is now."""
        ...

    def is_open(self, tp: TopicPartition) -> bool:
        """Return whether `open` has returned the partition's store, and it was not removed or set aside since."""
        ...

    def open_count(self) -> int:
        """Return how many partitions `is_open` holds of."""
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


Disks = Sequence[Disk | OfflineLogDir]
"""The log directories of one node, in the order of `log.dirs`."""

MEMORY: Final = "/memory"
"""What a disk in memory calls its directory, if it is not told otherwise."""
MEMORY_ID: Final = Uuid.from_ints(1, 0)
"""The id of that directory; the nodes of a cluster must have different ones."""


class MemoryDisk:
    """A `Disk` in memory; `allocate` gives the buffers of its segments, `clock` the times at which they are written.

    After `fail` every call that a real disk would have to write or read for raises OSError, until `mend`.
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
        """Have every write, cut, flush and opening raise `error` from now on; what was written stays."""
        self._fault = error
        for store in self._stores.values():
            store.fault = error

    def mend(self) -> None:
        """End what `fail` began."""
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
        """Return what was written of a partition, also after the disk failed; None if there is nothing."""
        return self._stores.get(tp)

    def cut_power(self, rng: Rng) -> int:
        """Lose what was not flushed, each segment from a byte that `rng` draws; return how many bytes went."""
        return sum(
            self._stores[tp].cut_power(lambda unflushed: rng.below(unflushed + 1)) for tp in sorted(self._stores)
        )

    def put(self, tp: TopicPartition, store: MemoryStore) -> None:
        """Lay down a partition folder that was written elsewhere."""
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
