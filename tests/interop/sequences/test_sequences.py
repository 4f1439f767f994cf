"""The JVM's log and kmirror's stay equal after each step of any sequence.

A seed draws the deeds, their order and the configs. After each step both return the same result, have the same state,
and the same bytes in the same files. KMIRROR_SEQUENCES=10000 is the number of additional sequences; for a difference
the test reports the shortest sequence. tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.sequences.both_logs import Jvm
from tests.interop.sequences.drawn import WEIGHTS
from tests.interop.sequences.histories import Historian

SEEDS = 60 + int(os.environ.get("KMIRROR_SEQUENCES", "0"))
STEPS = 60
# Errors of a leader for a producer or a coordinator, of a replica for its leader, and for offsets that are too high.
REFUSALS = {
    "lead !CORRUPT_MESSAGE",
    "lead !INVALID_PRODUCER_EPOCH",
    "lead !INVALID_RECORD",
    "lead !INVALID_TIMESTAMP",
    "lead !INVALID_TXN_STATE",
    "lead !MESSAGE_TOO_LARGE",
    "lead !OUT_OF_ORDER_SEQUENCE_NUMBER",
    "follow !CORRUPT_MESSAGE",
    "follow !UnexpectedAppendOffsetException",
    "start !OFFSET_OUT_OF_RANGE",
}


@pytest.fixture
def historian(tmp_path: Path, log_class_path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Historian]:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # It takes half of the time, and the power stays on.
    jvm = Jvm(log_class_path, tmp_path)
    yield Historian(jvm, tmp_path)
    jvm.close()


def test_both_logs_stay_equal_after_any_step(historian: Historian) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(SEEDS):
        history = historian.draw(seed, STEPS)
        if history.difference:
            pytest.fail(f"seed {seed}, {len(history.steps)} steps, of which it takes\n{historian.shortest(history)}")
        outcomes += history.outcomes
    assert {f"{deed} done" for deed in WEIGHTS} | REFUSALS <= set(outcomes)
