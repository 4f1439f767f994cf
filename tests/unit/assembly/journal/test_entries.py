"""The file of a journal: its last entry may be torn, nothing else."""

from __future__ import annotations

import pytest

from kmirror.assembly.journal.entries import (
    CALL,
    DISK,
    NODE,
    VERSION,
    Torn,
    encode_entry,
    file_header,
    read_entries,
)
from kmirror.errors import ProtocolError, UsageError

WHOLE = [(NODE, ("a",)), (DISK, (1, b"x" * 40)), (CALL, (2,))]
DATA = file_header() + b"".join(encode_entry(kind, value) for kind, value in WHOLE)


def test_entries_are_read_back_in_order() -> None:
    assert list(read_entries(DATA)) == WHOLE


def test_a_torn_end_is_ignored_with_a_note() -> None:
    """Wherever the writer was killed, the complete entries before that place are kept."""
    ends = [len(file_header())]
    for kind, value in WHOLE:
        ends.append(ends[-1] + len(encode_entry(kind, value)))
    for cut in range(len(file_header()), len(DATA)):
        whole = max(number for number, end in enumerate(ends) if end <= cut)
        found = list(read_entries(DATA[:cut]))
        assert found[:whole] == WHOLE[:whole]
        start = ends[whole]
        assert found[whole:] == ([] if cut == start else [Torn(start, cut - start)])
    assert str(Torn(5, 3)) == "3 bytes at byte 5 are a torn entry, which is ignored"


def test_a_last_entry_whose_bytes_did_not_all_reach_the_disk_is_torn() -> None:
    broken = DATA[:-1] + bytes([DATA[-1] ^ 1])
    assert list(read_entries(broken))[:2] == WHOLE[:2] and isinstance(list(read_entries(broken))[2], Torn)


def test_a_damaged_entry_before_the_end_is_an_error() -> None:
    at = len(file_header()) + len(encode_entry(*WHOLE[0])) + 20
    with pytest.raises(ProtocolError, match="an entry of the journal is damaged"):
        list(read_entries(DATA[:at] + bytes([DATA[at] ^ 1]) + DATA[at + 1 :]))


def test_invalid_journals_are_refused() -> None:
    with pytest.raises(UsageError, match="not a journal"):
        list(read_entries(b"something else altogether"))
    with pytest.raises(UsageError, match=f"has version {VERSION + 1}; only version {VERSION} is supported"):
        list(read_entries(file_header()[:-1] + bytes([VERSION + 1])))
