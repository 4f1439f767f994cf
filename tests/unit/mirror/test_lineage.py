"""Clusters that wrote the epochs of a log, and the epoch up to which two logs can be equal (D45)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.mirror.lineage import (
    Stretch,
    Stretches,
    adopted,
    copied_in,
    is_copied_again,
    known_here,
    reported,
    shared_epoch,
    stretches_from,
    without_id,
    written_by,
    written_on,
)

A, B, C = written_by("a"), written_by("b"), written_by("c")

clusters = st.sampled_from("abcd")
failovers = st.lists(st.tuples(st.integers(1, 5), clusters), max_size=6)


def lineage(first: str, then: list[tuple[int, str]]) -> Stretches:
    found, epoch = written_by(first), 0
    for more, cluster in then:
        epoch += more
        found = written_on(found, epoch, cluster)
    return found


lineages = st.builds(lineage, clusters, failovers)


def test_a_failover_adds_a_stretch() -> None:
    assert written_on(A, 3, "b") == (Stretch(0, "a"), Stretch(3, "b"))
    assert written_on(A, 3, "a") == A
    assert written_on((), 3, "b") == (Stretch(3, "b"),)
    assert written_on((Stretch(0, "a"), Stretch(3, "b")), 3, "c") == (Stretch(0, "a"), Stretch(3, "c"))


def test_a_mirror_and_its_source_part_where_the_mirror_began_to_write() -> None:
    assert shared_epoch(A, written_on(A, 3, "b")) == 2
    assert shared_epoch(written_on(A, 3, "b"), written_on(A, 2, "c")) == 1
    assert shared_epoch(A, B) == -1
    assert shared_epoch(A, ()) == -1
    assert shared_epoch(A, A) is None


def test_equal_numbers_of_two_clusters_are_not_shared() -> None:
    """Cluster a wrote epoch 1 itself, truncated to epoch 0, and got epoch 1 from b."""
    assert shared_epoch(A, written_on(A, 1, "b")) == 0


def test_stretches_of_a_message_may_be_in_any_order() -> None:
    found = written_on(written_on(A, 3, "b"), 7, "a")
    assert stretches_from(reversed(found)) == found


@given(lineages, lineages)
def test_both_sides_see_the_same(one: Stretches, other: Stretches) -> None:
    shared = shared_epoch(one, other)
    assert shared == shared_epoch(other, one)
    if shared is None:
        assert one == other
    else:
        assert -1 <= shared < max(stretch.first_epoch for stretch in one + other)


@given(lineages, st.integers(1, 10), st.sampled_from("xyz"))
def test_a_continuing_writer_shares_everything_below(before: Stretches, more: int, cluster: str) -> None:
    epoch = before[-1].first_epoch + more
    assert shared_epoch(before, written_on(before, epoch, cluster)) == epoch - 1


@given(lineages)
def test_neighbours_are_of_different_clusters(found: Stretches) -> None:
    assert all(one.cluster_id != other.cluster_id for one, other in itertools.pairwise(found))


@pytest.mark.decision("D69")
def test_a_copy_is_followed_once() -> None:
    source = reported(copied_in(A, 4, "b"), "b")
    ours = adopted(A, source, "c")
    assert is_copied_again(A, source, "c")
    assert not is_copied_again(ours, source, "c")
    assert is_copied_again(ours, copied_in(source, 6, "b"), "c")
    assert not is_copied_again(A, B, "c"), "another writer is no copy"
    assert [row.cluster_id for row in copied_in(source, 6, "b")] == ["b", "a"], "the later copy takes its place"


@pytest.mark.decision("D69")
def test_a_cluster_keeps_its_own_copy_and_passes_on_no_other() -> None:
    ours = copied_in(adopted(A, copied_in(A, 4, "b"), "c"), 2, "c")
    assert adopted(ours, A, "c") == reported(ours, "c") == (Stretch(-3, "c"), Stretch(0, "a"))
    assert not is_copied_again(reported(ours, "c"), A, "c"), "a source knows nothing of the copies made of it"


@pytest.mark.decision("D69")
@given(lineages, st.integers(0, 9), st.integers(1, 10))
def test_a_copy_writes_no_epoch(before: Stretches, copied: int, more: int) -> None:
    after, epoch = copied_in(before, copied, "b"), before[-1].first_epoch + more
    assert shared_epoch(before, after) is None
    assert shared_epoch(written_on(before, epoch, "x"), written_on(after, epoch, "x")) is None


# -- sources without topic ids ----------------------------------------------------------------------


@pytest.mark.decision("D53")
def test_two_copies_of_a_topic_without_an_id_have_nothing_in_common() -> None:
    first, second = without_id(A, "a", "b", 0), without_id(A, "a", "b", 3)
    assert shared_epoch(first, second) == shared_epoch(first, without_id(A, "a", "c", 0)) == -1
    assert shared_epoch(written_on(first, 2, "b"), written_on(first, 4, "c")) == 1, "one copy, in a chain"


@pytest.mark.decision("D53")
def test_a_source_without_topic_ids_continues_the_copied_log() -> None:
    ours = written_on(without_id(A, "a", "b", 0), 2, "b")
    assert shared_epoch(ours, known_here(A, "a", ours)) == 1
    assert known_here(written_on(ours, 4, "a"), "a", ours) == written_on(ours, 4, "a"), "it mirrored ours"
    assert known_here(A, "a", B) == known_here(A, "a", A) == known_here(A, "a", ()) == A
    assert known_here(B, "b", ours) == B, "of another cluster than our source"
