"""Sequence numbers increase and decrease like the two methods of Kafka's `DefaultRecordBatch`, with wrapping ints."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.java import wrap_int32
from kmirror.records.layout import SEQUENCE_MAX, add_to_sequence, subtract_from_sequence

INTS = st.integers(-(2**31), 2**31 - 1)


@given(sequence=INTS, step=INTS)
def test_steps_on_are_those_of_increment_sequence(sequence: int, step: int) -> None:
    if sequence > wrap_int32(SEQUENCE_MAX - step):
        expected = wrap_int32(step - (SEQUENCE_MAX - sequence) - 1)
    else:
        expected = wrap_int32(sequence + step)
    assert add_to_sequence(sequence, step) == expected


@given(sequence=INTS, step=INTS)
def test_steps_back_are_those_of_decrement_sequence(sequence: int, step: int) -> None:
    if sequence < step:
        expected = wrap_int32(SEQUENCE_MAX - (step - sequence) + 1)
    else:
        expected = wrap_int32(sequence - step)
    assert subtract_from_sequence(sequence, step) == expected


@given(sequence=st.integers(0, SEQUENCE_MAX), step=st.integers(0, SEQUENCE_MAX))
def test_there_and_back(sequence: int, step: int) -> None:
    assert subtract_from_sequence(add_to_sequence(sequence, step), step) == sequence
