"""One table of folder names; all readers of a log folder find the same partitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.names import RENAME_REASONS, parse_folder_name, partition_of
from kmirror.logdir.partition import open_partition, partition_paths
from kmirror.logdir.store import LogFolder
from kmirror.spark.folders import find_segments
from tests.builders import batch
from tests.unit.logdir.folders import partition

ID = "60d9fcf42c904bdb8a69f8cc8a102420"
PARTITIONS = {
    "t-0": ("t", 0),
    "a.b_c-d-10": ("a.b_c-d", 10),
    "x--0": ("x-", 0),
    "--0": ("-", 0),
    "...-0": ("...", 0),
    "7-7": ("7", 7),
    "only-delete-2": ("only-delete", 2),
    f"t-1.{ID}-delete-0": (f"t-1.{ID}-delete", 0),
    "t-2147483647": ("t", 2147483647),
    f"{'t' * 249}-0": ("t" * 249, 0),
}
SET_ASIDE_FOLDERS = {
    f"t-1.{ID}-delete": ("t", 1, "delete"),
    f"t-1.{ID}-future": ("t", 1, "future"),
    f"a.b-c-12.{ID}-stray": ("a.b-c", 12, "stray"),
    f"t-1.{ID}-delete-0.{ID}-delete": (f"t-1.{ID}-delete", 0, "delete"),
    "t-1.0-a-delete": ("t", 1, "delete"),
}
OTHERS = [
    "t",
    "t-",
    "-0",
    ".-0",
    "..-0",
    "t-01",
    "t-+1",
    "t-٣",
    "t-2147483648",
    "a-9999999999",
    "t-0\n",
    "t t-0",
    "é-0",
    f"{'t' * 250}-0",
    "lost+found",
    "remote-log-index-cache",
    "t-0.log",
    "notes-delete",
    "t-delete",
    "t-x.0-delete",
    "t-01.0-delete",
    "..-0.0-delete",
    "t-0.-delete",
    "t-0.a.b-delete",
    "t-0.a b-delete",
    f"t-0.{ID}-move",
    f"t-0.{ID}-deleted",
    f"t-0.{ID}",
]


@pytest.mark.parametrize(("name", "said"), PARTITIONS.items())
def test_a_partition_s_folder(name: str, said: tuple[str, int]) -> None:
    assert parse_folder_name(name) == (said, None)
    assert partition_of(name) == said


@pytest.mark.parametrize(("name", "said"), SET_ASIDE_FOLDERS.items())
def test_a_folder_that_a_broker_has_renamed(name: str, said: tuple[str, int, str]) -> None:
    assert parse_folder_name(name) == (said[:2], said[2])
    assert partition_of(name) is None


@pytest.mark.parametrize("name", OTHERS)
def test_a_folder_that_no_broker_has_named(name: str) -> None:
    assert parse_folder_name(name) is None


def test_every_reader_finds_the_same_partitions(tmp_path: Path) -> None:
    for name in [*PARTITIONS, *SET_ASIDE_FOLDERS, *OTHERS]:
        if len(name) <= 255:
            partition(tmp_path, name, {0: batch()})
    expected = sorted(PARTITIONS.values())
    loaded = read_log_dirs(tmp_path)
    assert list(loaded.partitions) == expected
    assert LogFolder(tmp_path).partitions() == expected
    assert sorted(segment.tp for segment in find_segments(str(tmp_path))) == expected
    assert [open_partition(path).tp for path in partition_paths(tmp_path)] == expected
    reasons = dict(loaded.skipped)
    assert {name: reasons.pop(name) for name in SET_ASIDE_FOLDERS} == {
        name: RENAME_REASONS[kind] for name, (_, _, kind) in SET_ASIDE_FOLDERS.items()
    }
    assert reasons == dict.fromkeys(OTHERS, "the name is not TOPIC-PARTITION")


@pytest.mark.parametrize("name", OTHERS)
def test_a_folder_of_another_name_is_refused_by_itself_too(tmp_path: Path, name: str) -> None:
    folder = partition(tmp_path, name, {0: batch()})
    with pytest.raises(UsageError, match="the name is not TOPIC-PARTITION"):
        open_partition(folder)
