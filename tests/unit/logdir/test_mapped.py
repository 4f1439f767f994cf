"""A mapped file: requests to the system are hints, and may be refused."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from kmirror.logdir import mapped as module
from kmirror.logdir.faults import Unreadable
from kmirror.logdir.mapped import mapped

DATA = bytes(range(256)) * 64 * 1024  # Sixteen mebibytes: one window that is released.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(DATA)
    return tmp_path / "file"


@pytest.mark.parametrize("advice", [module._POPULATE_READ, 9999], ids=["taken", "unknown to the system"])
def test_hints_change_nothing_that_is_read(path: Path, monkeypatch: pytest.MonkeyPatch, advice: int) -> None:
    monkeypatch.setattr(module, "_POPULATE_READ", advice)
    with mapped(path) as file:
        assert file.size == len(DATA)
        for position in (0, 5000, len(DATA) - 1, len(DATA)):
            file.prefetch(position)
        assert file.view == DATA
        file.release_before(len(DATA))
        assert file.view == DATA


class Advised:
    """A fake map that records the hints."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, int]] = []

    def madvise(self, advice: int, start: int, length: int) -> None:
        self.calls.append((advice, start, length))

    def close(self) -> None:
        pass


def test_a_window_is_requested_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = mmap.PAGESIZE
    window = 16 * page
    monkeypatch.setattr(module, "_WINDOW", window)
    monkeypatch.setattr(module, "_CAN_POPULATE", True)
    with mapped(path) as file:
        whole, file._map = file._map, (advised := Advised())
        positions = [0, 5, window - 1, window, window + 5, 3 * window + 7, len(DATA) - 5, len(DATA)]
        for position in positions:
            file.prefetch(position)
        asked = [(start, length) for _, start, length in advised.calls]
        last = len(DATA) - page
        assert asked == [(0, window), (window, window), (3 * window, window), (last, page)]
        file._map = whole


def test_an_empty_file_has_nothing_to_map(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with mapped(tmp_path / "empty") as file:
        file.prefetch(0)
        file.release_before(0)
        assert (file.size, bytes(file.view)) == (0, b"")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"nowhere: no such file"), mapped(tmp_path / "nowhere"):
        pass
