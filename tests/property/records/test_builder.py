"""The builder knows the size of its batch before it is built, and keeps its limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import LocalProtocolError
from kmirror.records import Batch, BatchBuilder, Compression, RecordData, build_batch
from kmirror.testing.strategies.batches import batch_options, records

LISTS = st.lists(records(), min_size=1, max_size=12)


def add(builder: BatchBuilder, record: RecordData) -> bool:
    return builder.append(key=record.key, value=record.value, headers=record.headers, timestamp=record.timestamp)


@given(records=LISTS, kept=batch_options())
def test_a_builder_gives_the_same_bytes_as_build_batch(records: list[RecordData], kept: dict[str, Any]) -> None:
    builder = BatchBuilder(**kept)
    assert all(add(builder, record) for record in records)
    assert len(builder) == len(records)
    assert builder.build() == build_batch(records, **kept)


@given(records=LISTS, size_max=st.integers(0, 800))
def test_the_size_is_known_and_bounded(records: list[RecordData], size_max: int) -> None:
    builder = BatchBuilder(size_max=size_max)
    taken = 0
    for record in records:
        before = builder.size_in_bytes
        if not add(builder, record):
            assert builder.size_in_bytes == before
            break
        taken += 1
    data = builder.build()
    assert len(data) == builder.size_in_bytes
    assert taken == 1 or len(data) <= size_max
    if taken < len(records):
        assert len(build_batch(records[: taken + 1])) > size_max
    assert Batch(data).record_count == taken


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"producer_id": 5}, "needs an epoch"),
        ({"producer_id": 5, "producer_epoch": 0}, "sequence"),
        ({"is_transactional": True}, "needs a producer id"),
        ({"compression": Compression.GZIP, "level": 10}, "1 to 9, not 10"),
        ({"compression": Compression.SNAPPY, "level": 1}, "no level"),
    ],
)
def test_incompatible_options_are_refused_immediately(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(LocalProtocolError, match=reason):
        BatchBuilder(**wrong)


def test_a_batch_needs_a_record() -> None:
    with pytest.raises(LocalProtocolError, match="needs a record"):
        BatchBuilder().build()
