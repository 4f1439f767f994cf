"""Log folders for tests: written from batches, or copied from the sample and then damaged."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import pytest

from kmirror.logdir.faults import FileFault
from kmirror.logdir.load import read_log_dirs
from kmirror.records import RecordData
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set

SAMPLE = Path(str(resources.files("kmirror.logdir") / "sample"))
# Bytes that may follow the last batch of a file, and a part of the reason for the refusal.
TAILS = ((bytes(1), "zero"), (bytes(4096), "the last 4096 bytes of the file are zero"), (b"\1", "1 bytes"))


def sample(target: Path, *partitions: str) -> Path:
    """Copy the sample, or these partitions of it, to the test's folder."""
    folder = target / "sample"
    kept = shutil.ignore_patterns() if not partitions else _only(partitions)
    shutil.copytree(SAMPLE, folder, ignore=kept)
    return folder


def _only(partitions: tuple[str, ...]):
    def ignored(_: str, names: list[str]) -> set[str]:
        return {name for name in names if (SAMPLE / name).is_dir() and name not in partitions}

    return ignored


def messages(base_offset: int, count: int = 1, *, magic: int = 1, codec: Compression = Compression.NONE) -> bytes:
    """Return consecutive messages of an old format, or one wrapper around them."""
    records = [RecordData(b"k%d" % n, b"v" * 20, (), 1000 + n) for n in range(count)]
    return build_message_set(records, magic=magic, base_offset=base_offset, compression=codec)


def partition(folder: Path, name: str, segments: dict[int, bytes], files: dict[str, bytes] | None = None) -> Path:
    """Write one partition's folder."""
    place = folder / name
    place.mkdir(parents=True)
    for base_offset, data in segments.items():
        (place / f"{base_offset:020d}.log").write_bytes(data)
    for file, data in (files or {}).items():
        (place / file).write_bytes(data)
    return place


def checkpoint(rows: Iterable[str]) -> bytes:
    lines = list(rows)
    return f"0\n{len(lines)}\n{''.join(row + chr(10) for row in lines)}".encode()


def fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, time of change and content of everything below `folder`."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found


def refused(folder: Path, **options: object) -> FileFault:
    """Return the error of reading `folder`, after checking that it is complete and nothing was changed."""
    before = fingerprint(folder)
    with pytest.raises(FileFault) as caught:
        read_log_dirs(folder, **options)  # type: ignore[arg-type]
    assert fingerprint(folder) == before
    error = caught.value
    text = str(error)
    assert str(error.path) in text
    assert error.reason in text
    assert text.endswith(f": {error.reason}")
    if error.position is not None:
        assert f"position {error.position}, offset {error.offset}:" in text
    return error


def assert_refused(
    folder: Path, segments: dict[int, bytes], file: int, position: int, offset: int, reason: str
) -> None:
    """Write a partition of these segments, and check that reading fails at this place of the file `file`."""
    place = partition(folder, "t-0", segments)
    error = refused(folder)
    assert (error.path, error.position, error.offset) == (place / f"{file:020d}.log", position, offset)
    assert reason in error.reason
