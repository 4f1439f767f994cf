"""Errors cross from a worker process to its parent."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch, KafkaError, KmirrorError, ProtocolError, SimulationFailure, UsageError
from kmirror.log.errors import LogAppendError, OffsetOutOfRange
from kmirror.logdir.load_errors import CorruptLog
from kmirror.records.batch import TornBatch
from kmirror.spec.error_codes import ErrorCode

ERRORS: list[KmirrorError] = [
    ProtocolError("a length is negative", position=7, path="topics.name"),
    CorruptBatch("garbage", position=3, offset=9).within("orders-0"),
    TornBatch("half a batch", position=3, offset=9, needed=70),
    UsageError("no such folder"),
    KafkaError(ErrorCode.READ_ONLY_TOPIC, "orders is read-only"),
    SimulationFailure("did not converge", seed=7, elapsed_us=1_500_000),
    LogAppendError(ErrorCode.INVALID_RECORD, "a batch of nothing"),
    OffsetOutOfRange("below the log", offset=1, log_start_offset=2, log_end_offset=3),
    CorruptLog("garbage", path=Path("orders-0"), position=3, offset=9),
]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KafkaError(ErrorCode.READ_ONLY_TOPIC, "read-only"), "KafkaError(READ_ONLY_TOPIC, 'read-only')"),
        (LogAppendError(ErrorCode.INVALID_RECORD, "nothing in it"), "LogAppendError(INVALID_RECORD, 'nothing in it')"),
    ],
    ids=["plain", "log"],
)
def test_a_refusal_shows_its_code(error: KafkaError, text: str) -> None:
    assert repr(error) == repr(pickle.loads(pickle.dumps(error))) == text
    assert type(error.code) is ErrorCode


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_pickles_and_copies_say_the_same(error: KmirrorError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))
