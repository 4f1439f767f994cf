"""Target: our reading of a broker's log directory with one broken file, in /dev/shm if available.

The directory holds partitions of the sample that Kafka 4.3.1 wrote, with all that a broker keeps next to a log:
indexes, producer snapshots, checkpoints. With any bytes in the file, `verify`, loading, and recovery at startup finish
or raise their typed errors. `verify` reports each file that loading refuses, and each change that a checksum reveals.
No record is read that was not written: a loaded record from a file with its original checksums was there before. After
a recovery with repair, a log holds only batches that were written.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path

from kmirror.errors import CorruptBatch, UsageError
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.log_files import (
    CHECKSUMS_FIXED,
    FILE_BYTES_MAX,
    LogFile,
    LogFileStream,
    has_unknown_batches,
    whole_batches,
)
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import TAKEN, Stateless, without_numbers
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.log.config import LogConfig
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import LOG_SUFFIX, SNAPSHOT_SUFFIX
from kmirror.logdir.faults import FileFault, Gap, Tally, Unreadable
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.names import partition_of
from kmirror.logdir.store import LogFolder
from kmirror.logdir.verify.partition import open_job, verify
from kmirror.records.legacy import iter_any_batches

_NOW_MS = 1_800_000_000_000
_WEIGHT = 60
"""Weight of all files of a kind together, such as time indexes: there are many of those, but one meta.properties."""
_MEMORY = Path("/dev/shm")
_CONFIG = LogConfig(index_interval_bytes=256)
"""Otherwise the index of a small segment has no rows."""
_PARTITIONS = frozenset(
    ("clients-1", "clients-2", "idem-0", "idem-1", "txn-0", "txn-1", "txn-2", "epochs-0", "compacted-1", "retention-2")
)
Content = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""A record without its offset, which no checksum covers."""


class LogDirTarget(Stateless):
    """A broker's log directory, restored after each frame."""

    name = "log-dir"

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="kmirror-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None)
        self._top = Path(self._temporary.name) / "logs"
        _write_directory(self._top)
        self.files = {
            str(path.relative_to(self._top)): path.read_bytes()
            for path in sorted(self._top.rglob("*"))
            if path.is_file()
        }
        self._batches_of: dict[str, set[bytes]] = {}
        for name, data in self.files.items():
            if name.endswith(LOG_SUFFIX):
                self._batches_of.setdefault(name.partition("/")[0], set()).update(whole_batches(data))
        self._written = set(_contents(data for name, data in self.files.items() if name.endswith(LOG_SUFFIX)))
        self._gaps: set[Gap] = set()
        self._gaps = set(self._verify(self._top)[1])

    def close(self) -> None:
        """Remove the folder."""
        self._temporary.cleanup()

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the first report of `verify`, without numbers; raises `Fault`."""
        if frame.name not in self.files:
            raise UsageError(f"the folder has no file {frame.name}")
        path = self._top / frame.name
        path.write_bytes(frame.data)
        try:
            return self._judge(frame)
        except Fault:
            raise
        except Exception as error:
            raise fault_of_exception(error) from error
        finally:
            path.write_bytes(self.files[frame.name])

    def _judge(self, frame: Frame) -> str:
        is_of_partition = "/" in frame.name
        folder = (self._top / frame.name).parent
        faults, gaps = self._verify(folder)
        reports = [*faults, *(gap.reason for gap in gaps)]
        refused = self._load(folder, fixes_checksum=CHECKSUMS_FIXED in frame.steps)
        if frame.is_valid and (reports or refused):
            raise Fault(FaultKind.REFUSED, f"a broker's own folder: {reports or refused}", "a valid folder", TAKEN)
        if refused and not reports:
            raise Fault(
                FaultKind.DIFFERS,
                f"loading reports {refused!r}, but verify reports nothing",
                "refused, not reported",
                "a fault",
            )
        if not reports and self._must_be_reported(frame):
            raise Fault(FaultKind.TAKEN, f"verify reports no change in {frame.name}", "change not reported", "a fault")
        if is_of_partition:
            self._check_recovery(frame, folder)
        return without_numbers(reports[0]) if reports else TAKEN

    def _verify(self, folder: Path) -> tuple[list[str], list[Gap]]:
        """Return the reported faults, and the gaps that were not there at the start."""
        reports: list[str] = []
        tally = Tally(lambda fault: reports.append(fault.reason))
        verify(open_job(folder, tally), tally, decodes=True)
        return reports, [gap for gap in tally.gaps if gap not in self._gaps]

    def _load(self, folder: Path, *, fixes_checksum: bool) -> str:
        """Load the directory; return the reason why it is refused, or ""."""
        try:
            partitions = read_log_dirs(folder).partitions
        except (FileFault, Unreadable) as error:
            return error.reason
        if not fixes_checksum:
            for files in partitions.values():
                for content in _contents(files.segments.values()):
                    if content not in self._written:
                        raise Fault(FaultKind.CHANGED, f"{content} was not there", "a record that was not there", "")
        return ""

    def _must_be_reported(self, frame: Frame) -> bool:
        """Return whether a checksum reveals the change: the file is not a sequence of batches that were written."""
        if frame.is_valid or CHECKSUMS_FIXED in frame.steps or frame.data == self.files[frame.name]:
            return False
        if frame.name.endswith(SNAPSHOT_SUFFIX):
            return True
        known = self._batches_of.get(frame.name.partition("/")[0], set())
        return frame.name.endswith(LOG_SUFFIX) and has_unknown_batches(frame.data, known)

    def _check_recovery(self, frame: Frame, folder: Path) -> None:
        """Open the log as after a crash, and verify the result; the partition's files are restored afterwards."""
        tp = partition_of(folder.name)
        assert tp is not None, "of the sample"
        try:
            with closing(LogFolder(self._top)) as log_folder:
                log = PartitionLog.open(tp, log_folder.open(tp), _CONFIG, now_ms=_NOW_MS, repair=True)
                log.close()
            self._verify(folder)
            unknown = (
                []
                if CHECKSUMS_FIXED in frame.steps
                else [
                    path.name
                    for path in folder.glob(f"*{LOG_SUFFIX}")
                    if has_unknown_batches(path.read_bytes(), self._batches_of[folder.name])
                ]
            )
        except CorruptBatch:
            return  # In a checkpoint; the log is not truncated for those.
        finally:
            self._restore(folder)
        if unknown:
            raise Fault(
                FaultKind.DIFFERS,
                f"a repair leaves batches in {unknown[0]} that were not written",
                "repaired, and not whole",
            )

    def _restore(self, folder: Path) -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        for name, data in self.files.items():
            if "/" not in name or name.startswith(f"{folder.name}/"):
                (self._top / name).write_bytes(data)


def _write_directory(top: Path) -> None:
    """Write the directory: the sample's partitions, opened and closed as a broker does."""
    with resources.as_file(resources.files("kmirror.logdir") / "sample") as sample:
        others = {path.name for path in sample.iterdir() if path.is_dir()} - _PARTITIONS
        shutil.copytree(sample, top, ignore=lambda _, names: others.intersection(names))
    with closing(LogFolder(top)) as log_folder:
        for tp in log_folder.partitions():
            PartitionLog.open(tp, log_folder.open(tp), _CONFIG, now_ms=_NOW_MS, repair=True).close()


def _contents(segments: Iterable[bytes]) -> Iterator[Content]:
    for data in segments:
        for batch in iter_any_batches(data):
            for record in batch.records():
                yield record.timestamp, record.key, record.value, tuple(record.headers)


def open_target(options: TargetOptions) -> tuple[LogDirTarget, LogFileStream]:
    """Return the target and the files of the seed."""
    target = LogDirTarget()
    names = [name for name, data in target.files.items() if 0 < len(data) <= FILE_BYTES_MAX]
    counts = Counter(map(_kind_of, names))
    files = {
        name: LogFile(target.files[name], name.endswith(LOG_SUFFIX), max(1, _WEIGHT // counts[_kind_of(name)]))
        for name in names
    }
    return target, LogFileStream(options.seed, "log-dir", files, segment_share=0.4)


def _kind_of(name: str) -> str:
    """Return the kind of a file: its suffix, or its name if the stem is not a number."""
    path = Path(name)
    return path.suffix if path.stem.isdigit() else path.name
