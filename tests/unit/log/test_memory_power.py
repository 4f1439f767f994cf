"""A memory store after a power cut has everything flushed, and a prefix of the rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kmirror.log.memory_store import MemoryStore


@given(st.lists(st.one_of(st.binary(min_size=1, max_size=9), st.none(), st.integers(0, 40)), max_size=20), st.data())
def test_flushed_bytes_stay_with_a_prefix_of_the_rest(steps: list[bytes | int | None], data: st.DataObject) -> None:
    """Steps are appends, None a flush, a number a truncation to that size."""
    store = MemoryStore()
    store.create(0)
    content, flushed = b"", 0
    for step in steps:
        if step is None:
            store.flush(0)
            flushed = len(content)
        elif isinstance(step, int):
            content = content[:step]
            flushed = min(flushed, len(content))
            store.truncate(0, len(content))
        else:
            content += step
            store.append(0, step)
    kept = data.draw(st.integers(0, len(content) - flushed))
    lost = store.cut_power(lambda unflushed: kept)
    assert bytes(store.view(0)) == content[: flushed + kept]
    assert lost == len(content) - flushed - kept


def test_a_laid_down_segment_and_a_replaced_one_are_safe() -> None:
    store = MemoryStore.from_files({0: b"abc", 3: b"def"}, {})
    store.stage(0, b"xyz")
    store.replace([0, 3])
    assert store.cut_power(lambda unflushed: 0) == 0
    assert bytes(store.view(0)) == b"xyz"
    fork = store.fork()
    fork.append(0, b"!")
    assert fork.cut_power(lambda unflushed: 0) == 1
