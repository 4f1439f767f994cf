"""A store that records each effect, so that a test can cut the power after any of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kmirror.log.memory_store import MemoryStore
from kmirror.log.store import Chunk


@dataclass(frozen=True, slots=True)
class Effect:
    kind: str
    target: int | str
    value: bytes | int = 0


class RecordingStore:
    """A memory store that records its effects."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.effects: list[Effect] = []
        self._staged: dict[int, bytes] = {}

    def _note(self, kind: str, target: int | str, value: bytes | int = 0) -> None:
        self.effects.append(Effect(kind, target, value))

    def segments(self) -> list[int]:
        return self.inner.segments()

    def create(self, base_offset: int) -> None:
        self._note("create", base_offset)
        self.inner.create(base_offset)

    def size(self, base_offset: int) -> int:
        return self.inner.size(base_offset)

    def append(self, base_offset: int, data: Chunk) -> None:
        self._note("append", base_offset, bytes(data))
        self.inner.append(base_offset, data)

    def view(self, base_offset: int, start: int = 0, end: int | None = None) -> memoryview:
        return self.inner.view(base_offset, start, end)

    def read(self, base_offset: int, start: int, end: int) -> memoryview:
        return self.inner.read(base_offset, start, end)

    def flush(self, base_offset: int) -> None:
        self._note("flush", base_offset)

    def modified_ms(self, base_offset: int) -> int | None:
        return self.inner.modified_ms(base_offset)

    def truncate(self, base_offset: int, size: int) -> None:
        self._note("truncate", base_offset, size)
        self.inner.truncate(base_offset, size)

    def delete(self, base_offset: int) -> None:
        self._note("delete", base_offset)
        self.inner.delete(base_offset)

    def set_aside(self, base_offset: int) -> None:
        self.delete(base_offset)

    def purge(self, base_offset: int) -> None:
        pass  # It is removed as soon as it is set aside.

    def stage(self, base_offset: int, data: Chunk) -> None:
        self.inner.stage(base_offset, data)
        self._staged[base_offset] = bytes(data)  # Staged segments that were not committed do not survive a crash.

    def unstage(self, base_offset: int) -> None:
        self.inner.unstage(base_offset)

    def replace(self, base_offsets: Sequence[int]) -> None:
        self._note("replace", repr(list(base_offsets)), self._staged.pop(base_offsets[0]))
        self.inner.replace(base_offsets)

    def read_file(self, name: str) -> bytes | None:
        return self.inner.read_file(name)

    def write_file(self, name: str, data: bytes) -> None:
        self._note("write", name, bytes(data))
        self.inner.write_file(name, data)

    def delete_file(self, name: str) -> None:
        self._note("unlink", name)
        self.inner.delete_file(name)

    def files(self) -> Iterable[str]:
        return self.inner.files()


def after_power_cut(effects: list[Effect]) -> Iterator[MemoryStore]:
    """Yield the possible stores after these effects: nothing, half, all but a byte or all of the unflushed bytes."""
    for kept_of in (lambda size: 0, lambda size: size // 2, lambda size: max(size - 1, 0), lambda size: size):
        store = MemoryStore()
        safe: dict[int, int] = {}
        for effect in effects:
            _replay(store, safe, effect)
        for base_offset, size in safe.items():
            store.truncate(base_offset, size + kept_of(store.size(base_offset) - size))
        yield store


def _replay(store: MemoryStore, safe: dict[int, int], effect: Effect) -> None:
    match effect:
        case Effect("create", int(base)):
            store.create(base)
            safe[base] = 0
        case Effect("append", int(base), bytes(data)):
            store.append(base, data)
        case Effect("flush", int(base)):
            safe[base] = store.size(base)
        case Effect("truncate", int(base), int(size)):
            store.truncate(base, size)
            safe[base] = size
        case Effect("delete", int(base)):
            store.delete(base)
            del safe[base]
        case Effect("replace", str(bases), bytes(data)):
            base_offsets = list(map(int, bases.strip("[]").split(",")))
            store.stage(base_offsets[0], data)
            store.replace(base_offsets)
            for base in base_offsets:
                del safe[base]
            safe[base_offsets[0]] = len(data)
        case Effect("write", str(name), bytes(data)):
            store.write_file(name, data)
        case Effect("unlink", str(name)):
            store.delete_file(name)
        case _:
            raise AssertionError(effect)
