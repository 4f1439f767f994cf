"""Results of runs: one row for each, and the files that they are written to.

    RESULTS/runs/ID.parquet        one run, written atomically as soon as it ended
    RESULTS/runs/all-DIGEST.parquet   many runs together, at the end of a sweep
    RESULTS/runs/.writing/            files being written; exists while a sweep runs

A row has the options, the figures, broken rules, and its origin: seed, digest, version, Python. A run that raised has
its traceback instead of figures. Writing uses Arrow's file systems, so RESULTS may be a path or a URI that every
executor can write to. This module does not need Spark.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, get_type_hints
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from kmirror import __version__
from kmirror.errors import ProtocolError, UsageError
from kmirror.experiments.failover_figures import Figures
from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.sweep_file import Run
from kmirror.experiments.sweep_run import run_to_row
from kmirror.logdir.faults import Unreadable

T = TypeVar("T")
Row = dict[str, Any]
RUNS = "runs"
_REASON_MAX = 200
_LAG = pa.list_(pa.struct([("ms", pa.int64()), ("records", pa.int64())]))
_STATES = pa.map_(pa.string(), pa.int64())
_ARROW: dict[str, Any] = {"lag": _LAG, "state_ms": _STATES}
NUMBERS = tuple(field.name for field in fields(Figures) if field.name not in _ARROW)
"""The figures that are one number."""


def _fields(kind: type) -> list[Any]:
    hints = get_type_hints(kind)
    plain = {int: pa.int64(), str: pa.string()}
    return [pa.field(f.name, _ARROW.get(f.name) or plain[hints[f.name]]) for f in fields(kind)]


SCHEMA = pa.schema(
    [
        pa.field("run_id", pa.string()),
        pa.field("sweep", pa.string()),
        pa.field("status", pa.string()),
        *_fields(ExperimentOptions),
        *_fields(Figures),
        pa.field("broken", pa.list_(pa.string())),
        pa.field("error", pa.string()),
        pa.field("digest", pa.string()),
        pa.field("kmirror_version", pa.string()),
        pa.field("python_version", pa.string()),
        pa.field("package", pa.string()),
        pa.field("wall_ms", pa.int64()),
        pa.field("options_json", pa.string()),
    ],
    metadata={"kmirror.version": __version__},
)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turn Arrow's error for an unreadable file, or one that is not Parquet, into one line."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise Unreadable(Path(path), f"cannot be read: {_reason(error)}") from None
        raise _damaged_error(path, error) from None
    except pa.ArrowException as error:
        raise _damaged_error(path, error) from None


def _damaged_error(path: str, error: Exception) -> ProtocolError:
    return ProtocolError(f"{path}: is damaged: {_reason(error)}; delete it to repeat its runs")


@contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise Unreadable(Path(path), f"cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return the text of an Arrow error on one line; for an error of the operating system only its own text."""
    text = " ".join(str(error).split())
    _, found, detail = text.partition("Detail: ")
    return re.sub(r"^\[errno \d+\] ", "", detail if found else text, flags=re.IGNORECASE)[:_REASON_MAX]


class Results:
    """The folder of a sweep's results; `schema` has run_id, status and wall_ms, and the other columns of a row."""

    def __init__(self, location: str, schema: Any = SCHEMA) -> None:
        self._schema = schema
        if "://" in location:
            try:
                self._fs, path = pafs.FileSystem.from_uri(location)
            except (OSError, pa.ArrowException) as error:
                raise UsageError(f"{location}: cannot be used: {_reason(error)}; give a path, or a URI") from None
        else:
            self._fs, path = pafs.LocalFileSystem(), location
        self._runs = str(PurePosixPath(path) / RUNS)
        self._staging = f"{self._runs}/.writing"

    def prepare(self) -> None:
        """Create the folder, or check that rows can be added; runs can be written from here until `compact`.

        Raises `Unreadable` if the folder or a file in it cannot be written, and `UsageError` like `check`.
        """
        with _writing(self._runs):
            self._fs.create_dir(self._staging, recursive=True)
            probe = f"{self._staging}/{uuid4().hex}"
            self._fs.open_output_stream(probe).close()
            self._fs.delete_file(probe)
        self.check()

    def prepare_if_missing(self, run_ids: Collection[str]) -> None:
        """Create the folder if one of these runs is missing; raises like `prepare`, or `ProtocolError` for damage.

        Checking this first avoids starting Spark for nothing.
        """
        if not self.finished().issuperset(run_ids):
            self.prepare()

    def check(self) -> None:
        """Raise `UsageError` if the columns of a file differ from those of this version, as it would be misread."""
        for path in self.files():
            self._check(path, self._schema_of(path))

    def holds(self, column: str) -> bool:
        """Return whether a file here has this column."""
        return any(column in self._schema_of(path).names for path in self.files())

    def _schema_of(self, path: str) -> Any:
        with _reading(path), self._fs.open_input_file(path) as stream:
            return pq.read_schema(stream)

    def _check(self, path: str, found: Any) -> None:
        if found.equals(self._schema):
            return
        found_names, expected_names = set(found.names), set(self._schema.names)
        other_types = {
            name for name in expected_names & found_names if found.field(name).type != self._schema.field(name).type
        }
        parts = (
            ("lacks", expected_names - found_names),
            ("also has", found_names - expected_names),
            ("has as another type", other_types),
        )
        differences = [f"{problem} {', '.join(sorted(names))}" for problem, names in parts if names]
        if differences:
            raise UsageError(
                f"{path} was not written by this version of kmirror, and its figures may mean something else: it "
                f"{'; it '.join(differences)}. Read it with the version that wrote it, or sweep into another folder"
            )

    def write(self, rows: Sequence[dict[str, Any]], name: str) -> None:
        """Write rows as one file, which appears in the folder atomically.

        Raises `Unreadable` if the file cannot be written, also after `gather`: the Python worker of a killed executor
        may end its run only then, and another executor has repeated that run.
        """
        self._write(pa.Table.from_pylist(list(rows), schema=self._schema), name, self._staging)

    def _write(self, table: Any, name: str, folder: str) -> None:
        # Unique, as the worker of a killed executor may still run next to its replacement.
        fresh = f"{folder}/.{name}.{uuid4().hex}"
        with _writing(self._runs):
            with self._fs.open_output_stream(fresh) as stream:
                pq.write_table(table, stream, compression="zstd")
            self._fs.move(fresh, f"{self._runs}/{name}.parquet")

    def files(self) -> list[str]:
        """Return the paths of the result files, sorted."""
        with _reading(self._runs):
            found = self._fs.get_file_info(pafs.FileSelector(self._runs, allow_not_found=True))
        names = (info.path for info in found if info.is_file and info.path.endswith(".parquet"))
        return sorted(path for path in names if not PurePosixPath(path).name.startswith("."))

    def status_of(self, run_id: str) -> tuple[str, int] | None:
        """Return status and milliseconds of a run that finished since the sweep started, or None."""
        path = f"{self._runs}/{run_id}.parquet"
        if not self._fs.get_file_info(path).is_file:
            return None
        with _reading(path), self._fs.open_input_file(path) as stream:
            (row,) = pq.read_table(stream, columns=["status", "wall_ms"]).to_pylist()
        return row["status"], row["wall_ms"]

    def finished(self) -> set[str]:
        """Return the ids of all runs that have a row."""
        found: set[str] = set()
        for path in self.files():
            stem = PurePosixPath(path).stem
            found.update([stem] if not stem.startswith("all-") else self._ids(path))
        return found

    def _ids(self, path: str) -> list[str]:
        with _reading(path), self._fs.open_input_file(path) as stream:
            ids: list[str] = pq.read_table(stream, columns=["run_id"])["run_id"].to_pylist()
        return ids

    def read(self) -> Any:
        """Return all rows as an Arrow table, each run once."""
        tables = []
        for path in self.files():
            with _reading(path), self._fs.open_input_file(path) as stream:
                table = pq.read_table(stream)
            self._check(path, table.schema)
            tables.append(table)
        if not tables:
            return self._schema.empty_table()
        table = pa.concat_tables(tables, promote_options="default")
        first_rows: dict[str, int] = {}
        for index, name in enumerate(table["run_id"].to_pylist()):
            first_rows.setdefault(name, index)
        return table if len(first_rows) == len(table) else table.take(list(first_rows.values()))

    def compact(self) -> int:
        """Merge the files of single runs into one and return its number of runs. A kill in between loses nothing.

        Nothing can be written after it until `prepare` is called.
        """
        self._end_writing()
        files = self.files()
        if len(files) < 2:
            return len(self.finished())
        table = self.read().sort_by("run_id")
        name = hashlib.sha256("".join(table["run_id"].to_pylist()).encode()).hexdigest()[:16]
        self._write(table, f"all-{name}", self._runs)
        for path in files:
            if PurePosixPath(path).stem != f"all-{name}":
                self._fs.delete_file(path)
        return len(table)

    def _end_writing(self) -> None:
        """Delete the folder of files being written, so that none can be moved from it later."""
        with _writing(self._staging):
            while self._fs.get_file_info(self._staging).type != pafs.FileType.NotFound:
                try:
                    self._fs.delete_dir(self._staging)
                except OSError as error:
                    # A late writer created a file after the folder was emptied, or deleted one first.
                    if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                        raise


def read_rows(location: str) -> list[Row]:
    """Return the rows of a sweep's results, sorted by id; raises `UsageError` if there are none."""
    results = Results(location)
    if results.holds("verdict"):
        raise UsageError(f"{location}: contains histories: use `kmirror sim --spark` to show them")
    table = results.read()
    if not len(table):
        raise UsageError(
            f"{location}: contains no results of a sweep; create them with `kmirror sweep FILE.toml -o {location}`"
        )
    rows: list[Row] = table.sort_by("run_id").to_pylist()
    return rows


def run_and_store(
    results: Results, items: Mapping[str, T], run_to_row: Callable[[T], Row]
) -> Iterator[tuple[str, str, int]]:
    """Execute `items`, store the row of each at once, and yield its (run id, status, milliseconds).

    Items finished by an earlier attempt of the task are not run again.
    """
    for run_id, item in items.items():
        known = results.status_of(run_id)
        if known is not None:
            yield run_id, *known
            continue
        row = run_to_row(item)
        results.write([row], run_id)
        yield run_id, row["status"], row["wall_ms"]


def run_all(location: str, sweep: str, items: Iterable[Run]) -> Iterator[tuple[str, str, int]]:
    """Run the simulations of a sweep, and store their rows in `location`.

    Yields the (run id, status, milliseconds) of each, as `run_and_store` does.
    """
    return run_and_store(Results(location), {item.run_id: item for item in items}, partial(run_to_row, sweep))


def run_sweep_part(location: str, sweep: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Run the part of a sweep assigned to a task: run ids with their options."""
    return run_all(location, sweep, [Run(run_id, ExperimentOptions(**options)) for run_id, options in part.items()])
