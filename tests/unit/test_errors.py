"""The tree of errors, which can be sent from a worker process to its parent."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch, KafkaError, KmirrorError, ProtocolError, SimulationFailure, UsageError
from kmirror.log.errors import LogAppendError, OffsetOutOfRange, RecordsRejected
from kmirror.logdir.faults import FileFault, Unreadable, fault_of
from kmirror.records.batch import TornBatch
from kmirror.spec.error_codes import ErrorCode

ERRORS: list[KmirrorError] = [
    ProtocolError("a length is negative", position=7, field="topics.name"),
    CorruptBatch("garbage", position=3, offset=9).with_context("orders-0"),
    TornBatch("half a batch", position=3, offset=9, needed=70),
    UsageError("no such folder"),
    KafkaError(ErrorCode.READ_ONLY_TOPIC, "orders is read-only"),
    SimulationFailure("did not converge", seed=7, elapsed_us=1_500_000),
    LogAppendError(ErrorCode.INVALID_RECORD, "a batch of nothing"),
    RecordsRejected(ErrorCode.INVALID_RECORD, "a record of nothing", [(3, "no key")]),
    OffsetOutOfRange("below the log", offset=1, log_start_offset=2, log_end_offset=3),
    FileFault("garbage", path=Path("orders-0"), position=3, offset=9),
    Unreadable(Path("orders-0"), "cannot be read: Permission denied"),
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
def test_pickles_and_copies_have_the_same_text(error: KmirrorError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_a_damaged_file_is_a_corrupt_batch_with_its_place() -> None:
    error = FileFault("garbage", path=Path("orders-0/0.log"), position=3, offset=9)
    assert isinstance(error, CorruptBatch)
    assert str(error) == "orders-0/0.log, position 3, offset 9: garbage"
    assert (error.path, error.position, error.offset, error.reason) == (Path("orders-0/0.log"), 3, 9, "garbage")
    assert fault_of(error, Path("other")) is error
    found = fault_of(CorruptBatch("garbage", position=3, offset=9), Path("here"))
    assert str(found) == "here, position 3, offset 9: garbage"
