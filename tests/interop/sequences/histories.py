"""Histories of both logs by their seed, and the shortest history that ends with the same difference."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.log.config import LogConfig
from kmirror.records.batch import iter_batches
from tests.interop.sequences.both_logs import BothLogs, Difference, Jvm, Step, Unreadable, properties
from tests.interop.sequences.drawn import START_MS, StepDrawer


@dataclass(slots=True)
class History:
    """All steps up to the end or to a difference, and the number of results of each deed."""

    config: LogConfig
    steps: list[Step] = field(default_factory=list)
    difference: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [properties(self.config), *map(_step_text, self.steps), self.difference]
        return "\n".join(lines)


class Historian:
    """Runs histories in separate folders, with one JVM."""

    def __init__(self, jvm: Jvm, folder: Path) -> None:
        self._jvm = jvm
        self._folders = (folder / str(number) for number in count())

    def draw(self, seed: int, steps: int) -> History:
        drawn = StepDrawer(seed)
        history = History(drawn.config)
        folder = next(self._folders)
        try:
            both = BothLogs(self._jvm, folder, drawn.config, START_MS)
            for _ in range(steps):
                history.steps.append(drawn.step(both.log))
                outcome = both.do(history.steps[-1])
                refusal = outcome.split("\t")[0] if outcome.startswith("!") else "done"
                history.outcomes[f"{history.steps[-1].deed} {refusal}"] += 1
        except Unreadable:
            history.outcomes["unreadable"] += 1
        except Difference as difference:
            history.difference = str(difference)
        shutil.rmtree(folder)
        return history

    def shortest(self, history: History) -> History:
        """Return the same difference with as few of the steps as possible."""
        best, size = history, len(history.steps) // 2
        while size:
            start, is_shorter = 0, False
            while start < len(best.steps):
                tried = self._live(best.config, best.steps[:start] + best.steps[start + size :])
                if _kind(tried.difference) == _kind(history.difference):
                    best, is_shorter = tried, True
                else:
                    start += size
            if not is_shorter or size > 1:
                size //= 2
        return best

    def _live(self, config: LogConfig, steps: Sequence[Step]) -> History:
        history = History(config)
        folder = next(self._folders)
        try:
            both = BothLogs(self._jvm, folder, config, START_MS)
            for step in steps:
                history.steps.append(step)
                both.do(step)
        except Unreadable:
            pass
        except Difference as difference:
            history.difference = str(difference)
        shutil.rmtree(folder)
        return history


def _kind(difference: str) -> str:
    """Return the difference without its numbers."""
    return re.sub(r"\d+", "N", difference.split("\n")[0])


def _step_text(step: Step) -> str:
    words = [properties(word) if isinstance(word, LogConfig) else word for word in step.words]
    return f"+{step.now_ms - START_MS} {step.deed} {' '.join(map(_word_text, words))}"


def _word_text(word: object) -> str:
    if not isinstance(word, bytes):
        return str(word)
    try:
        return " ".join(
            f"[{batch.base_offset}-{batch.last_offset} epoch {batch.partition_leader_epoch} {batch.compression.name} "
            f"producer {batch.producer_id}/{batch.producer_epoch}/{batch.base_sequence} "
            f"{'control ' * batch.is_control}{'transactional ' * batch.is_transactional}"
            f"time {batch.max_timestamp - START_MS} {batch.size_in_bytes} bytes]"
            for batch in iter_batches(word)
        )
    except CorruptBatch:
        return word.hex()
