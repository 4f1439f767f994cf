"""String.hashCode as the JVM has it, and the partition that follows from it."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.runtime import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0), ("a", 97), ("ab", 3105), ("hello", 99162322), ("Hello World", -862545276),
        ("polygenelubricants", -(1 << 31)), ("AaAa", 2031744), ("BBBB", 2031744), ("\U0001f600", 1772899),
        ("\u00e9", 233),
    ],
)
def test_known_values_of_the_jvm(text: str, value: int) -> None:
    assert java_hash(text) == value


def test_partition_of_the_least_integer_is_zero() -> None:
    """Kafka's Utils.abs: there is no positive number for it."""
    assert partition_for("polygenelubricants", 50) == 0


def test_partition_of_a_negative_hash_is_its_absolute_value() -> None:
    assert partition_for("Hello World", 50) == 862545276 % 50
