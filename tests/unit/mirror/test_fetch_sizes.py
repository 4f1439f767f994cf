"""Growth and reduction of the fetch size of a mirror (D70)."""

from __future__ import annotations

import pytest

from kmirror.client.fetch_loop import Fetcher
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.fetch_sizes import GROWTH_LATENCY_MAX, GROWTH_LATENCY_MIN, SHRINK_LATENCY, FetchSizes
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import Wish
from kmirror.spec.configs import Configs, Scope

pytestmark = pytest.mark.decision("D70")
LEAST, MOST, ALL = 100, 1_000, 300


class Line:
    """One fetcher of two partitions, and the duration of its responses."""

    def __init__(self, most: int = MOST) -> None:
        configs = Configs(
            Scope.BROKER,
            {
                "replica.fetch.max.bytes": str(LEAST),
                "replica.fetch.response.max.bytes": str(ALL),
                "mirror.replica.fetch.max.bytes": str(most),
            },
        )
        self.sizes = FetchSizes(lambda: configs)
        self.fetcher: Fetcher[MirrorPartition] = Fetcher(("m", 1, 0), Endpoint("a-1", 9092))
        assignment = Assignment("m", Wish.MIRROR)
        self.one, self.other = (
            MirrorPartition(TopicPartition("orders", number), Uuid.ZERO, assignment) for number in range(2)
        )
        self.fetcher.partitions = {each.tp: each for each in (self.one, self.other)}

    def answer(self, took: Duration, *, full: int = 1, throttled: bool = False) -> tuple[int, int]:
        """Process a response that was full for some partitions; return the sizes of the next request."""
        fetcher = self.fetcher
        fetcher.asked_at = fetcher.answered_at + SECOND
        fetcher.answered_at = fetcher.asked_at + took
        fetcher.throttled_until = fetcher.answered_at + throttled
        for mp in (self.one, self.other)[:full]:
            self.sizes.on_full(fetcher, mp)
        return self.sizes.partition_max_bytes_of(self.one), self.sizes.max_bytes_of(fetcher)


def test_each_full_response_doubles_the_fetch_size_up_to_the_config() -> None:
    line = Line()
    found = [line.answer(100 * MILLISECOND) for _ in range(5)]
    assert found == [(200, 300), (400, 400), (800, 800), (1_000, 1_000), (1_000, 1_000)]


def test_a_grown_size_stays_after_a_response_with_all_records() -> None:
    line = Line()
    line.answer(GROWTH_LATENCY_MAX)
    assert line.answer(GROWTH_LATENCY_MAX, full=0) == (200, 300)


def test_two_partitions_of_one_response_double_the_size_once() -> None:
    line = Line()
    assert line.answer(GROWTH_LATENCY_MAX, full=2) == (200, 300)
    assert line.sizes.partition_max_bytes_of(line.other) == 200
    line.answer(GROWTH_LATENCY_MAX)
    assert (line.sizes.partition_max_bytes_of(line.one), line.sizes.partition_max_bytes_of(line.other)) == (400, 200)


@pytest.mark.parametrize("took", [0, GROWTH_LATENCY_MIN - 1, GROWTH_LATENCY_MAX + 1, SHRINK_LATENCY])
def test_a_response_of_medium_duration_leaves_the_fetch_size_unchanged(took: Duration) -> None:
    line = Line()
    line.answer(GROWTH_LATENCY_MIN)
    assert line.answer(took) == (200, 300)


def test_a_fetch_size_grows_up_to_eight_times_the_fastest_response_time() -> None:
    line = Line()
    line.answer(20 * MILLISECOND)
    assert line.answer(161 * MILLISECOND) == (200, 300)
    assert line.answer(160 * MILLISECOND) == (400, 400)
    line.sizes.on_lost(line.fetcher)
    assert line.answer(161 * MILLISECOND) == (200, 300), "the next line may be a longer one"


def test_late_responses_halve_the_fetch_size_down_to_the_minimum() -> None:
    line = Line()
    for _ in range(3):
        line.answer(GROWTH_LATENCY_MAX)
    assert [line.answer(SHRINK_LATENCY + 1)[0] for _ in range(5)] == [400, 200, 100, 100, 100]
    assert line.answer(GROWTH_LATENCY_MAX) == (200, 300), "and up again from there"


def test_a_fetcher_throttled_by_its_source_does_not_grow() -> None:
    line = Line()
    assert line.answer(GROWTH_LATENCY_MAX, throttled=True) == (100, 300)
    assert line.answer(GROWTH_LATENCY_MAX) == (200, 300)


@pytest.mark.parametrize("most", [0, LEAST])
def test_nothing_grows_where_the_config_is_not_above_that_of_followers(most: int) -> None:
    line = Line(most)
    assert [line.answer(GROWTH_LATENCY_MAX) for _ in range(3)] == [(100, 300)] * 3


def test_after_a_lost_response_all_sizes_start_again() -> None:
    line = Line()
    line.answer(GROWTH_LATENCY_MAX, full=2)
    line.sizes.on_lost(line.fetcher)
    assert line.fetcher.changed.keys() == {line.one.tp, line.other.tp}
    assert (line.sizes.partition_max_bytes_of(line.one), line.sizes.partition_max_bytes_of(line.other)) == (100, 100)
    assert line.sizes.max_bytes_of(line.fetcher) == 300
    line.fetcher.changed.clear()
    line.sizes.on_lost(line.fetcher)
    assert not line.fetcher.changed, "a source that is away for hours costs nothing"
