"""The memory store keeps appended bytes, and never changes a view that it returned."""

from __future__ import annotations

from kmirror.log.memory_store import MemoryStore


def test_bytes_are_appended_in_order() -> None:
    store = MemoryStore()
    store.create(5)
    for data in (b"ab", memoryview(b"cd"), bytearray(b"e")):
        store.append(5, data)
    assert bytes(store.view(5)) == b"abcde"
    assert bytes(store.view(5, 1, 3)) == b"bc"
    assert store.size(5) == 5


def test_segments_are_listed_in_order() -> None:
    store = MemoryStore()
    for base_offset in (7, 0, 30):
        store.create(base_offset)
    store.delete(7)
    assert store.segments() == [0, 30]


def test_a_view_survives_growth_truncations_and_deletion() -> None:
    store = MemoryStore()
    store.create(0)
    store.append(0, b"x" * 100)
    view = store.view(0)
    store.truncate(0, 10)
    store.append(0, b"y" * 10_000)
    assert bytes(view) == b"x" * 100
    assert bytes(store.view(0)) == b"x" * 10 + b"y" * 10_000
    store.delete(0)
    assert bytes(view) == b"x" * 100


def test_views_are_read_only() -> None:
    store = MemoryStore()
    store.create(0)
    store.append(0, b"abc")
    assert store.view(0).readonly


def test_borrowed_bytes_are_shared_and_not_changed() -> None:
    data = bytearray(b"abcd")
    stores = [MemoryStore.from_files({0: data}, {"f": b"1"}) for _ in range(2)]
    stores[0].append(0, b"e")
    stores[0].truncate(0, 2)
    stores[0].append(0, b"z")
    assert bytes(stores[0].view(0)) == b"abz"
    assert bytes(stores[1].view(0)) == b"abcd"
    assert data == b"abcd"


def test_a_fork_and_its_origin_are_independent() -> None:
    store = MemoryStore()
    store.create(0)
    store.append(0, b"abc")
    other = store.fork()
    store.append(0, b"1")
    other.append(0, b"2")
    other.write_file("f", b"x")
    assert bytes(store.view(0)) == b"abc1"
    assert bytes(other.view(0)) == b"abc2"
    assert store.read_file("f") is None
    third = store.fork()
    store.truncate(0, 2)
    store.append(0, b"!!")
    assert bytes(store.view(0)) == b"ab!!"
    assert bytes(third.view(0)) == b"abc1"


def test_with_a_clock_each_segment_keeps_when_it_was_written_to() -> None:
    now_ms = 10
    store = MemoryStore(clock=lambda: now_ms)
    for base_offset in (0, 5):
        store.create(base_offset)
    now_ms = 20
    store.append(5, b"abc")
    assert (store.modified_ms(0), store.modified_ms(5), store.fork().modified_ms(5)) == (10, 20, 20)
    now_ms = 30
    store.truncate(5, 1)
    now_ms = 40
    store.cut_power(lambda unflushed: 0)
    assert store.modified_ms(5) == 30, "without a write the time stays"
    store.stage(0, b"cleaned")
    store.replace([0, 5])
    assert store.modified_ms(0) == 30, "that of the last one, as Kafka's cleaner leaves it"


def test_without_a_clock_no_segment_keeps_when_it_was_written_to() -> None:
    store = MemoryStore()
    store.create(0)
    store.append(0, b"abc")
    assert store.modified_ms(0) is None


def test_files() -> None:
    store = MemoryStore()
    assert store.read_file("a") is None
    store.write_file("b", b"1")
    store.write_file("a", b"2")
    store.write_file("a", b"3")
    assert list(store.files()) == ["a", "b"]
    assert store.read_file("a") == b"3"
    store.delete_file("a")
    store.delete_file("a")
    assert list(store.files()) == ["b"]
