"""A shard's newest and committed values, compared with a model that copies all values at every offset."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.shard_state import LoggedRecord, TableShard
from kmirror.kernel.rng import Rng

pytestmark = pytest.mark.decision("D48")
KEYS = "abc"


class Values(TableShard[str, int]):
    def replay(self, record: LoggedRecord) -> None:
        self.put(record.key.decode(), None if record.value is None else int(record.value))


def test_newest_and_committed_values_differ_until_the_high_watermark_passes() -> None:
    state = Values()
    state.put("a", 1)
    state.mark_appended(1)
    state.put("a", 2)
    state.mark_appended(2)
    state.put("b", None)
    assert (state.get("a"), state.committed("a"), state.is_pending("a")) == (2, None, True)
    state.commit(1)
    assert (state.get("a"), state.committed("a"), state.is_pending("a")) == (2, 1, True)
    state.commit(5)
    assert (state.get("a"), state.committed("a"), state.is_pending("a")) == (2, 2, False)
    assert state.is_pending("b"), "nobody knows where it will end"


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_changes_commits_and_reverts(seed: int) -> None:
    rng, state = Rng(seed), Values()
    newest: dict[str, int] = {}
    logged = [dict(newest)]  # The values below each log end.
    high_watermark = 0
    for step in range(300):
        key = KEYS[rng.below(len(KEYS))]
        match rng.below(6):
            case 0 | 1:
                state.put(key, step)
                newest[key] = step
            case 2:
                state.put(key, None)
                newest.pop(key, None)
            case 3:
                state.mark_appended(len(logged))
                logged.append(dict(newest))
            case 4:
                state.revert()
                newest = dict(logged[-1])
            case _:
                high_watermark = max(high_watermark, rng.below(len(logged)))
                state.commit(high_watermark)
        committed = logged[high_watermark]
        assert state.all_committed() == committed
        for name in KEYS:
            assert (state.get(name), state.committed(name)) == (newest.get(name), committed.get(name))
            assert state.is_pending(name) or newest.get(name) == committed.get(name)
