"""`kmirror cat` prints the records that a Kafka consumer got from the broker that wrote the folder."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kmirror.cli.cat import command
from kmirror.logdir.partition import partition_paths
from tests.cat_output import as_recorded
from tests.golden.cli.runs import SAMPLE, WHOLE
from tests.recorded import RUNS

_WHOLE_BYTES_MAX = 1024
# Requests to the broker: the key in offsets.json and the timestamp.
_LOOKUPS = {"at_T0_plus_1000": 1_700_000_001_000, "at_1712345700000": 1_712_345_700_000}
# Kafka 2.1 stopped at an empty segment that the cleaner had just changed.
_ANSWERED_WRONG = {("legacy-2.1", "v1-compacted-0"), ("legacy-2.1", "v2-compacted-0")}


def cat(folder: Path, *options: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(command, [str(folder), "-o", "json", *options])
    assert result.exception is None, result.exception
    return [as_recorded(json.loads(line)) for line in result.stdout.splitlines()]


def consumed_records(run: Path, name: str, *, committed: bool = False) -> list[dict[str, Any]]:
    """Return the consumer's records; there is a committed file only if it differs."""
    paths = [run / "records" / f"{name}.committed.jsonl"] if committed else []
    paths.append(run / "records" / f"{name}.jsonl")
    path = next((path for path in paths if path.exists()), None)
    return [] if path is None else [json.loads(line) for line in path.read_text().splitlines()]


def shorten_values(record: dict[str, Any]) -> dict[str, Any]:
    """Replace long values by their digest, like the recording."""
    short = {name: _short(record[name]) for name in ("key", "value")}
    return record | short | {"headers": [[name, _short(value)] for name, value in record["headers"]]}


def _short(base64_of: str | None) -> Any:
    data = b"" if base64_of is None else base64.b64decode(base64_of)
    if len(data) <= _WHOLE_BYTES_MAX:
        return base64_of
    return {"sha256": hashlib.sha256(data).hexdigest(), "length": len(data)}


def check(run: Path, folder: Path) -> None:
    name = folder.name
    is_internal = name.startswith("__")
    for committed in (False, True):
        got = [shorten_values(row) for row in cat(folder, *(["--read-committed"] if committed else []))]
        want = consumed_records(run, name, committed=committed)
        if is_internal and committed:
            continue  # The recording consumer read the internal topics uncommitted.
        # The internal topics may have grown between the recording and the shutdown.
        assert got == want or (is_internal and got[: len(want)] == want), (run.name, name, committed)


@pytest.mark.parametrize(
    ("run", "folder"),
    [(run, folder) for run in sorted((SAMPLE / "logs").iterdir()) for folder in partition_paths(run / "data")],
    ids=lambda path: path.name,
)
def test_sample(run: Path, folder: Path) -> None:
    check(run, folder)


def fixture_folders() -> list[tuple[Path, Path]]:
    tops = {run: ["data"] for run in RUNS} | {"epochs-4.3": [f"broker-{number}/data" for number in (1, 2, 3)]}
    return [
        (WHOLE / run, folder)
        for run, names in tops.items()
        for name in names
        for folder in partition_paths(WHOLE / run / name)
        if not folder.name.startswith("__cluster_metadata")
    ]


def test_every_partition_of_every_run() -> None:
    folders = fixture_folders()
    assert len(folders) > 80
    for run, folder in folders:
        check(run, folder)


def test_a_timestamp_is_found_at_the_offset_of_the_broker() -> None:
    lookups = 0
    for run, folder in fixture_folders():
        answers = json.loads((run / "offsets.json").read_text()).get(folder.name, {})
        if (run.name, folder.name) in _ANSWERED_WRONG:
            continue
        for key, timestamp in _LOOKUPS.items():
            if not isinstance(answers.get(key), dict):
                continue
            offset = answers[key]["offset"]
            # The broker may point to a control record; the printed record is the next one.
            want = [row["offset"] for row in consumed_records(run, folder.name) if 0 <= offset <= row["offset"]]
            got = [row["offset"] for row in cat(folder, "--timestamp", str(timestamp))]
            assert got == want or (folder.name.startswith("__") and got[: len(want)] == want), (run.name, folder.name)
            lookups += 1
    assert lookups > 100
