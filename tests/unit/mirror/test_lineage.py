"""Clusters that wrote the epochs of a log, and the epoch up to which two logs can be equal (D45)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.mirror.lineage import (
    Stretch,
    Stretches,
    adopt,
    is_copied_again,
    reported_stretches,
    shared_epoch,
    single_stretch,
    stretches_from,
    with_copy,
    with_copy_name,
    with_local_names,
    with_writer,
)

A, B, C = single_stretch("a"), single_stretch("b"), single_stretch("c")

clusters = st.sampled_from("abcd")
failovers = st.lists(st.tuples(st.integers(1, 5), clusters), max_size=6)


def lineage(first: str, then: list[tuple[int, str]]) -> Stretches:
    found, epoch = single_stretch(first), 0
    for more, cluster in then:
        epoch += more
        found = with_writer(found, epoch, cluster)
    return found


lineages = st.builds(lineage, clusters, failovers)


def test_a_failover_adds_a_stretch() -> None:
    assert with_writer(A, 3, "b") == (Stretch(0, "a"), Stretch(3, "b"))
    assert with_writer(A, 3, "a") == A
    assert with_writer((), 3, "b") == (Stretch(3, "b"),)
    assert with_writer((Stretch(0, "a"), Stretch(3, "b")), 3, "c") == (Stretch(0, "a"), Stretch(3, "c"))


def test_a_mirror_and_its_source_part_where_the_mirror_began_to_write() -> None:
    assert shared_epoch(A, with_writer(A, 3, "b")) == 2
    assert shared_epoch(with_writer(A, 3, "b"), with_writer(A, 2, "c")) == 1
    assert shared_epoch(A, B) == -1
    assert shared_epoch(A, ()) == -1
    assert shared_epoch(A, A) is None


def test_equal_numbers_of_two_clusters_are_not_shared() -> None:
    """Cluster a wrote epoch 1 itself, truncated to epoch 0, and got epoch 1 from b."""
    assert shared_epoch(A, with_writer(A, 1, "b")) == 0


def test_stretches_of_a_message_may_be_in_any_order() -> None:
    found = with_writer(with_writer(A, 3, "b"), 7, "a")
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
    assert shared_epoch(before, with_writer(before, epoch, cluster)) == epoch - 1


@given(lineages)
def test_neighbours_are_of_different_clusters(found: Stretches) -> None:
    assert all(one.cluster_id != other.cluster_id for one, other in itertools.pairwise(found))


@pytest.mark.decision("D69")
def test_a_copy_is_followed_once() -> None:
    source = reported_stretches(with_copy(A, 4, "b"), "b")
    ours = adopt(A, source, "c")
    assert is_copied_again(A, source, "c")
    assert not is_copied_again(ours, source, "c")
    assert is_copied_again(ours, with_copy(source, 6, "b"), "c")
    assert not is_copied_again(A, B, "c"), "another writer is no copy"
    assert [row.cluster_id for row in with_copy(source, 6, "b")] == ["b", "a"], "the later copy takes its place"


@pytest.mark.decision("D69")
def test_a_cluster_keeps_its_own_copy_and_passes_on_no_other() -> None:
    ours = with_copy(adopt(A, with_copy(A, 4, "b"), "c"), 2, "c")
    assert adopt(ours, A, "c") == reported_stretches(ours, "c") == (Stretch(-3, "c"), Stretch(0, "a"))
    assert not is_copied_again(reported_stretches(ours, "c"), A, "c"), "a source knows nothing of the copies made of it"


@pytest.mark.decision("D69")
@given(lineages, st.integers(0, 9), st.integers(1, 10))
def test_a_copy_writes_no_epoch(before: Stretches, copied: int, more: int) -> None:
    after, epoch = with_copy(before, copied, "b"), before[-1].first_epoch + more
    assert shared_epoch(before, after) is None
    assert shared_epoch(with_writer(before, epoch, "x"), with_writer(after, epoch, "x")) is None


# -- sources without topic ids ----------------------------------------------------------------------


@pytest.mark.decision("D53")
def test_two_copies_of_a_topic_without_an_id_have_nothing_in_common() -> None:
    first, second = with_copy_name(A, "a", "b", 0), with_copy_name(A, "a", "b", 3)
    assert shared_epoch(first, second) == shared_epoch(first, with_copy_name(A, "a", "c", 0)) == -1
    assert shared_epoch(with_writer(first, 2, "b"), with_writer(first, 4, "c")) == 1, "one copy, in a chain"


@pytest.mark.decision("D53")
def test_a_source_without_topic_ids_continues_the_copied_log() -> None:
    ours = with_writer(with_copy_name(A, "a", "b", 0), 2, "b")
    assert shared_epoch(ours, with_local_names(A, "a", ours)) == 1
    assert with_local_names(with_writer(ours, 4, "a"), "a", ours) == with_writer(ours, 4, "a"), "it mirrored ours"
    assert with_local_names(A, "a", B) == with_local_names(A, "a", A) == with_local_names(A, "a", ()) == A
    assert with_local_names(B, "b", ours) == B, "of another cluster than our source"
