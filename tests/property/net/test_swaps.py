"""A folder during swaps: reading it in place gives the same as opening it with a store."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.segments import list_segments
from kmirror.logdir.store import LogFolder
from kmirror.records import RecordData, build_batch

TP = TopicPartition("orders", 0)
INDEXES = (".index", ".timeindex", ".txnindex")
BASES = (0, 2, 4)


def file_names(*suffixes: str, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[set[str]]:
    """Names that end in these suffixes."""
    kinds = (".log", ".log", *INDEXES, ".snapshot")
    name = st.builds("{:020d}{}{}".format, st.sampled_from(BASES), st.sampled_from(kinds), st.sampled_from(suffixes))
    return st.sets(name, min_size=min_size, max_size=max_size)


def content(name: str, reaches: int) -> bytes:
    """A log has `reaches` offsets, so that it may overlap the next one; any other file contains its name."""
    if ".log" not in name:
        return name.encode()
    return build_batch([RecordData(b"k", name.encode())] * reaches, base_offset=int(name[:20]))


def segment_bytes(folder: Path) -> dict[int, list[bytes | None]]:
    """Return the bytes of each segment and of its indexes."""
    found = {}
    for segment in list_segments(folder):
        siblings = [segment.sibling(suffix) for suffix in INDEXES]
        found[segment.base_offset] = [
            path.read_bytes() if path.exists() else None for path in (segment.path, *siblings)
        ]
    return found


@given(file_names("", ".swap", min_size=6), file_names(".cleaned", ".deleted", max_size=2), st.integers(1, 5))
def test_swaps_are_read_as_they_are_finished(found: set[str], more: set[str], reaches: int) -> None:
    with TemporaryDirectory() as top:
        folder = Path(top) / str(TP)
        folder.mkdir()
        for name in found | more:
            (folder / name).write_bytes(content(name, reaches))
        before = segment_bytes(folder)
        store = LogFolder(Path(top)).open(TP)
        assert segment_bytes(folder) == before
        assert store.segments() == sorted(before)
        left = {path.name for path in folder.iterdir()}
        assert not {name for name in left if name.endswith((".swap", ".cleaned", ".deleted"))}
        LogFolder(Path(top)).open(TP)
        assert {path.name for path in folder.iterdir()} == left
