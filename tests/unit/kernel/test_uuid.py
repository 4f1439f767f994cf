"""A uuid is its sixteen bytes, printed as in Kafka."""

from __future__ import annotations

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.uuid import Uuid


def test_text_there_and_back() -> None:
    uuid = Uuid.from_ints(-1, 0x3E)
    assert str(uuid) == "__________8AAAAAAAAAPg"
    assert Uuid.from_str(str(uuid)) == Uuid.from_str(str(uuid) + "==") == uuid
    assert repr(uuid) == "Uuid.from_str('__________8AAAAAAAAAPg')"


def test_the_halves_are_signed_as_in_java() -> None:
    uuid = Uuid.from_ints(2**64 - 1, -2)
    assert (uuid.high, uuid.low) == (-1, -2)
    assert uuid == bytes([0xFF] * 15 + [0xFE])
    assert Uuid() == Uuid.ZERO == bytes(16)


@pytest.mark.parametrize("text", ["", "A" * 21, "A" * 23, "A" * 21 + "ä", "A" * 21 + "!", "A" * 22 + "A"])
def test_invalid_uuids_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a uuid"):
        Uuid.from_str(text)


def test_other_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="a uuid has 16 bytes, not 15"):
        Uuid(bytes(15))
