"""How much a mirror fetcher asks for: more while answers are full, as a long line needs (D70).

With one fetch in flight a line carries nothing for a round trip after each answer. The larger the answers are, the less
that costs.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.client.fetch_loop import Fetcher
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration
from kmirror.mirror.partition import MirrorPartition
from kmirror.spec.configs import Configs

SHORT: Duration = 10 * MILLISECOND
"""An answer that took less is large enough for its line."""
TIMES = 8
"""So is one that took longer than the fastest one by this factor: of its time a round trip is an eighth at most."""
SOON: Duration = SECOND
"""After an answer that took longer no more is asked for than before: the fetcher's other partitions wait."""
LATE: Duration = 2 * SECOND
"""After an answer that took longer, half as much is asked for."""


class FetchSizes:
    """The sizes in fetches of one broker's mirrors: each grows from `replica.fetch.max.bytes` on, and back to it."""

    def __init__(self, configs: Callable[[], Configs]) -> None:
        self._configs = configs

    @property
    def _least(self) -> int:
        return self._configs().integer("replica.fetch.max.bytes")

    @property
    def _most(self) -> int:
        return max(self._least, self._configs().integer("mirror.replica.fetch.max.bytes"))

    def of_partition(self, mp: MirrorPartition) -> int:
        """Return the bytes to ask for of a partition."""
        return max(self._least, min(mp.fetch_bytes, self._most))

    def of_answer(self, fetcher: Fetcher[MirrorPartition]) -> int:
        """Return the bytes to ask for in all: enough for what any partition asks for."""
        return max(self._configs().integer("replica.fetch.response.max.bytes"), min(fetcher.fetch_bytes, self._most))

    def on_full(self, fetcher: Fetcher[MirrorPartition], mp: MirrorPartition) -> None:
        """Resize the next fetch: the newest answer had as many records of `mp` as it could, and the source has more."""
        if fetcher.sized_at != fetcher.answered_at:  # Else another partition of the same answer did it.
            fetcher.sized_at = fetcher.answered_at
            took, size = fetcher.answered_at - fetcher.asked_at, max(fetcher.fetch_bytes, self._least, 1)
            fetcher.fastest = min(fetcher.fastest or took, took)
            if took > LATE:
                size //= 2
            elif SHORT <= took <= min(SOON, TIMES * fetcher.fastest) and not self._is_throttled(fetcher):
                size *= 2
            fetcher.fetch_bytes = min(size, self._most)
        mp.fetch_bytes = fetcher.fetch_bytes

    def _is_throttled(self, fetcher: Fetcher[MirrorPartition]) -> bool:
        """Return whether the newest answer had a ThrottleTimeMs."""
        return fetcher.throttled_until > fetcher.answered_at

    def on_lost(self, fetcher: Fetcher[MirrorPartition]) -> None:
        """Begin again with the least: it may be for its size that an answer did not come in time."""
        if fetcher.fetch_bytes:
            fetcher.fetch_bytes = fetcher.fastest = 0
            for mp in fetcher.partitions.values():
                mp.fetch_bytes = 0
                fetcher.mark(mp)
