"""Log folders for tests: written from batches, or copied from the sample and then damaged."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from kmirror.records import RecordData, build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set

SAMPLE = Path(str(resources.files("kmirror.logdir") / "sample"))
# What may follow the last batch of a file, and a part of the reason for which it is refused.
TAILS = ((bytes(1), "zero"), (bytes(4096), "the last 4096 bytes of the file are zero"), (b"\1", "1 bytes"))


def sample(target: Path, *partitions: str) -> Path:
    """Copy the sample, or these partitions of it, to a folder of the test's own."""
    folder = target / "sample"
    kept = shutil.ignore_patterns() if not partitions else _only(partitions)
    shutil.copytree(SAMPLE, folder, ignore=kept)
    return folder


def _only(partitions: tuple[str, ...]):
    def ignored(_: str, names: list[str]) -> set[str]:
        return {name for name in names if (SAMPLE / name).is_dir() and name not in partitions}

    return ignored


def batch(base_offset: int, count: int = 1, *, epoch: int = 0) -> bytes:
    """Return a batch of `count` records."""
    records = [RecordData(key=b"k", value=b"%d" % n, timestamp=1000) for n in range(count)]
    data = build_batch(records, partition_leader_epoch=epoch)
    return base_offset.to_bytes(8, "big", signed=True) + data[8:]  # Also offsets that no builder would write.


def messages(base_offset: int, count: int = 1, *, magic: int = 1, codec: Compression = Compression.NONE) -> bytes:
    """Return messages of an old format in a row, or one wrapper around them."""
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
