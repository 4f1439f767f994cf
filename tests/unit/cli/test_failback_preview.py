"""`kmirror failback-preview`: live clusters and their folders give the same result, and the failback matches it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.failback import FailbackPreview, _ClusterReport
from kmirror.admin.mirror import TcpMirror
from kmirror.cli.failback_folders import batches_to_check
from kmirror.cli.failback_preview import command, exit_code
from kmirror.cli.main import run as run_main
from kmirror.kernel.ids import TopicPartition
from kmirror.log.epochs import EpochEntry
from kmirror.logdir.partition import iter_batches, open_partition
from kmirror.mirror.failback import Cut, FailbackFacts, FailbackWait, LogOutline, Removal, failback_cut, removal_of
from kmirror.mirror.states import MirrorState
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.records.build import build_batch
from kmirror.records.legacy import AnyBatch, iter_any_batches
from kmirror.records.record import RecordData
from tests.builders import run as run_of_batches
from tests.builders import write_segment

TP = TopicPartition("orders", 0)


def log(start: int, end: int, *epochs: tuple[int, int]) -> LogOutline:
    return LogOutline([EpochEntry(*entry) for entry in epochs], start, end)


@pytest.mark.parametrize(
    ("facts", "cut"),
    [
        # Nothing was written after the failover.
        (FailbackFacts(log(0, 9, (0, 0)), log(0, 12, (0, 0), (1, 9)), 0), Cut(9, 0, "")),
        # The destination continued in the mirrored epoch: the fetch finds where that ends at the source.
        (
            FailbackFacts(log(0, 9, (3, 0)), log(0, 8, (3, 0), (4, 7)), 3),
            Cut(7, 0, "epoch 3 ends at offset 7 at the source"),
        ),
        # The destination continued in a later epoch.
        (
            FailbackFacts(log(0, 9, (3, 0), (5, 6)), log(0, 8, (3, 0), (4, 6)), 3),
            Cut(6, 0, "the last mirrored epoch, 3, ends at offset 6"),
        ),
        # Both clusters used epoch 4 for their own records.
        (
            FailbackFacts(log(0, 9, (3, 0), (4, 6)), log(0, 9, (3, 0), (4, 6)), 4, shared_epoch=3),
            Cut(6, 0, "the last epoch that the same clusters wrote, 3, ends at offset 6"),
        ),
        # The source has no mirroring state of the destination.
        (
            FailbackFacts(log(2, 9, (3, 2)), log(0, 8, (3, 0)), None),
            Cut(2, 2, "the source knows nothing of this log, so it is mirrored from scratch"),
        ),
        # ... but the destination mirrored this same topic from it before.
        (FailbackFacts(log(2, 9, (3, 2)), log(0, 9, (3, 0)), None, own_epoch=3), Cut(9, 2, "")),
        # Retention at the source went beyond all of the destination's records.
        (
            FailbackFacts(log(0, 9, (3, 0)), log(20, 30, (3, 20), (4, 25)), 3),
            Cut(0, 0, "the source's log begins at offset 20, and ours would end at 9"),
        ),
        # Retention at the source went beyond some of them.
        (FailbackFacts(log(0, 9, (3, 0)), log(5, 12, (3, 5), (4, 9)), 3), Cut(9, 5, "")),
        # The cleaner has passed the truncation offset, or has not, or removed nothing below it.
        (
            FailbackFacts(log(0, 9, (3, 0)), log(0, 8, (3, 0), (4, 7)), 3, cleaned_offset=8, first_hole=6),
            Cut(
                0,
                0,
                "epoch 3 ends at offset 7 at the source, and the cleaner has passed that: everything is copied again",
            ),
        ),
        (
            FailbackFacts(log(0, 9, (3, 0)), log(0, 8, (3, 0), (4, 7)), 3, cleaned_offset=7, first_hole=6),
            Cut(7, 0, "epoch 3 ends at offset 7 at the source"),
        ),
        (
            FailbackFacts(log(0, 9, (3, 0)), log(0, 8, (3, 0), (4, 7)), 3, cleaned_offset=8, first_hole=7),
            Cut(7, 0, "epoch 3 ends at offset 7 at the source"),
        ),
        # It has passed the first of two truncation offsets; a hole between the two decides, and only for that one.
        (
            FailbackFacts(log(0, 9, (3, 0), (5, 8)), log(0, 8, (3, 0), (4, 6)), 3, cleaned_offset=9, first_hole=7),
            Cut(
                0,
                0,
                "the last mirrored epoch, 3, ends at offset 8, and the cleaner has passed that: "
                "everything is copied again",
            ),
        ),
    ],
)
def test_the_truncation_of_a_failback_and_its_reason(facts: FailbackFacts, cut: Cut) -> None:
    assert failback_cut(facts) == cut


class Reader:
    """A leader's log in memory."""

    def __init__(self, *batches: bytes) -> None:
        self._data = b"".join(batches)

    async def batches(self, start: int, until: int) -> AsyncIterator[AnyBatch]:
        for batch in iter_any_batches(self._data):
            if start < batch.next_offset and batch.base_offset < until:
                yield batch


ONE, TWO, HOLE, LATER = (build_batch([RecordData(value=b"v")], base_offset=n, timestamp_ms=1000) for n in (0, 1, 3, 4))

MAY_GO = "everything would be removed and copied again if the log was compacted above offset 2"


@pytest.mark.parametrize(
    ("ours", "theirs", "policy", "stay_ms", "why", "may_go"),
    [
        # Nothing is missing anywhere.
        ([ONE, TWO], [ONE], "compact", 0, "plain", ""),
        # The destination lacks an offset below the truncation: whether its cleaner was above is unknown.
        (
            [TWO, HOLE],
            [TWO],
            "compact",
            1 << 60,
            "plain",
            MAY_GO,
        ),
        ([TWO, HOLE], [TWO], "delete", 1 << 60, "plain", ""),
        # The source lacks one above it, and tombstones may have been removed since then, or cannot have been.
        ([ONE, TWO], [ONE, HOLE], "compact", 0, "deletions", ""),
        ([ONE, TWO], [ONE, HOLE], "compact", 1 << 60, "plain", ""),
        # A topic may have been compacted before: its mirror ignores the policy too.
        ([ONE, TWO], [ONE, HOLE], "delete", 0, "deletions", ""),
        ([ONE, TWO], [ONE, HOLE], "delete", 1 << 60, "plain", ""),
    ],
)
@pytest.mark.decision("D63")
@pytest.mark.decision("D64")
def test_all_records_of_a_cleaned_log_may_be_removed(
    ours: list[bytes], theirs: list[bytes], policy: str, stay_ms: int, why: str, may_go: str
) -> None:
    readers = {"source": Reader(*theirs), "destination": Reader(*ours)}

    class Told(FailbackPreview):
        def _reader(self, which: str, tp: TopicPartition) -> Any:
            return readers[which]

    nobody: Any = None
    preview = Told("m", source=nobody, destination=nobody)
    preview._configs = {TP.topic: {"cleanup.policy": policy, "delete.retention.ms": str(stay_ms)}}
    cut_at = 2 if HOLE in ours else 1
    end = max(batch.next_offset for batch in iter_any_batches(b"".join(theirs)))
    facts = FailbackFacts(log(0, 4, (0, 0), (1, cut_at)), log(0, end, (0, 0)), 0)
    cut, why_all = asyncio.run(preview._with_copies(TP, facts, Cut(cut_at, 0, "plain")))
    assert (cut.reason.split()[0], why_all) == (why, may_go)
    assert cut.offset == (0 if why == "deletions" else cut_at)


def test_only_segments_that_may_lose_records_are_read(tmp_path: Path) -> None:
    """Truncations near the edges of four segments equal those of the whole log; a segment between two may be torn."""
    path = tmp_path / "orders-0"
    path.mkdir()
    for base_offset in range(0, 24, 6):
        write_segment(path, *run_of_batches(2, start=base_offset, records=3), base_offset=base_offset)
    folder = open_partition(path)
    edges = (0, 1, 5, 6, 8, 12, 18, 24)
    for cut in (Cut(offset, start, "") for offset in edges for start in edges if start <= offset):
        whole = removal_of(cut, (batch for _, batch in iter_batches(folder.segments)))
        assert removal_of(cut, batches_to_check(folder, cut)) == whole, cut
    torn = path / f"{12:020}.log"
    torn.write_bytes(torn.read_bytes()[:-1])
    assert removal_of(Cut(20, 2, ""), batches_to_check(folder, Cut(20, 2, ""))).batches == 2


class Stage:
    """Two clusters on disk: A wrote three records that B never mirrored, one of them a tombstone."""

    def __init__(self, folder: Path) -> None:
        self.folders = [folder / "a", folder / "b"]
        self.a, self.b = (TcpCluster(name=name, brokers=1, data=folder / name, mirror_version=1) for name in ("a", "b"))

    def play(self) -> None:
        self.a.create_topic("orders", 1)
        self.a.create_topic("quiet", 1)
        self.a.produce("orders", 0, [b"one", b"two"])
        there = TcpMirror("dr", source=self.a, destination=self.b)
        there.create()
        there.add_topics(["orders", "quiet"])
        there.catch_up()
        there.pause(["orders"])
        there.wait_for_state(MirrorState.PAUSED, [TP])
        records = [RecordData(key=b"k", value=b"v" * 5), RecordData(key=b"k", value=None), RecordData(value=b"")]
        self.a._run_client(lambda client: client.produce(TP, records), "writing")  # `produce` writes no keys.
        there.fail_over()
        self.b.produce("orders", 0, [b"three"])

    def live(self, *words: str) -> tuple[int, list[str]]:
        servers = ["--bootstrap-server", self.a.bootstrap_servers, "--source", self.b.bootstrap_servers]
        return run(*servers, "--mirror", "dr", *words)


def run(*words: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(command, words, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.stdout.splitlines()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("failback"))
    with made.a, made.b:
        made.play()
        yield made


def test_metadata_is_requested_by_cluster_not_by_partition(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    metadata = AsyncAdmin._metadata

    async def counted(admin: AsyncAdmin, names: Iterable[str] | None) -> MetadataResponse:
        asked.append(1)
        return await metadata(admin, names)

    monkeypatch.setattr(AsyncAdmin, "_metadata", counted)
    counts = []
    for topic in ("quiet", ".*"):
        asked.clear()
        stage.live("--topic", topic)
        counts.append(len(asked))
    assert counts[0] == counts[1], "of one partition, and of two"


SAID = "orders-0: offsets 2 to 4 would be removed (3 records, 1 batch, {size} bytes, 1 key, 1 tombstone): {why}"


def test_a_preview_equals_the_records_removed_by_the_failback(stage: Stage) -> None:
    code, lines = stage.live("--records")
    assert code == 1
    size = sum(len(batch.view) for batch in leader_batches(stage.a) if batch.base_offset >= 2)
    assert lines[0] == SAID.format(size=size, why="epoch 0 ends at offset 2 at the source")
    told = [line.split(" time ")[0] + " " + line.split(" ", 6)[-1] for line in lines[1:4]]
    assert told == [
        "  offset 2 key k value of 5 bytes",
        "  offset 3 key k tombstone",
        "  offset 4 no key value of 0 bytes",
    ]
    assert lines[4:] == [
        "quiet-0: no records would be removed",
        f"3 records, {size} bytes would be removed from 1 of 2 partitions",
    ]
    assert stage.live("--topic", "qui.*") == (
        0,
        ["quiet-0: no records would be removed", "no records would be removed (1 partition checked)"],
    )
    as_json = [json.loads(line) for line in stage.live("--records", "-o", "json")[1]]
    assert as_json[0] == {
        "type": "partition",
        "topic": "orders",
        "partition": 0,
        "log_start_offset": 0,
        "log_end_offset": 2,
        "why": "epoch 0 ends at offset 2 at the source",
        "all_may_go": None,
        "records": 3,
        "batches": 1,
        "bytes": size,
        "keys": 1,
        "tombstones": 1,
        "control_records": 0,
    }
    assert [(row["offset"], row["key"], row["tombstone"]) for row in as_json[1:4]] == [
        (2, "k", False),
        (3, "k", True),
        (4, None, False),
    ]
    live = stage.live("--records")
    stage.a.stop()
    stage.b.stop()
    assert run(*map(str, stage.folders), "--mirror", "dr", "--records") == live
    check_cleaned_folders(stage.folders)
    stage.a.start()
    stage.b.start()
    back = TcpMirror("dr", source=stage.b, destination=stage.a)
    back.create()
    back.add_topics(["orders"])
    back.catch_up()
    back.assert_equal()
    assert [record.value for record in stage.a.read(TP)] == [b"one", b"two", b"three"]


def check_cleaned_folders(folders: list[Path]) -> None:
    """Preview from folders in which the cleaner has reached offset 5 of orders-0, and has removed the first batch."""
    cleaned = folders[0].with_name("cleaned")
    shutil.copytree(folders[0], cleaned)
    words = [str(cleaned), str(folders[1]), "--mirror", "dr", "--topic", "orders"]
    before = run(*words)
    segment = next(cleaned.rglob("orders-0/*.log"))
    run_file = segment.parent / "cleaner-run"
    run_file.write_bytes(b"5")
    assert run(*words) == before, "nothing is missing in the log"
    data = segment.read_bytes()
    segment.write_bytes(data[next(len(batch.view) for batch in iter_any_batches(data)) :])
    assert (
        "ends at offset 2 at the source, and the cleaner has passed that: everything is copied again"
        in run(*words)[1][0]
    )
    run_file.unlink()
    assert run(*words) == before, "retention may have removed it"
    shutil.rmtree(cleaned)


def leader_batches(cluster: TcpCluster) -> list[AnyBatch]:
    leader = cluster.leader(TP)
    assert leader is not None
    return list(leader.log.any_batches(0))


def test_partitions_that_would_wait_are_reported(tmp_path: Path) -> None:
    with TcpCluster(name="a", brokers=1, topics={"orders": 1}) as a, TcpCluster(name="b", brokers=1) as b:
        there = TcpMirror("dr", source=a, destination=b)
        there.create()
        there.add_topics(["orders"])
        there.catch_up()
        words = ["--bootstrap-server", a.bootstrap_servers, "--source", b.bootstrap_servers, "--mirror", "dr"]
        code, lines = run(*words)
        assert (code, lines) == (
            1,
            [
                "orders-0: would wait: the source still mirrors it from here (MIRRORING): fail over there first",
                "no records would be removed (1 partition checked); 1 partition would wait",
            ],
        )
        row = json.loads(run(*words, "-o", "json")[1][0])
        assert row["waits_for"].startswith("the source still mirrors it") and not row["ends_by_itself"]


ONLY_COPY = (
    "the source's mirror was stopped before it mirrored anything, or its state was lost, so ours may be the only copy"
)


@pytest.mark.decision("D25")
def test_records_mirrored_only_here_would_not_wait(tmp_path: Path) -> None:
    """The source's mirror never copied any of it; the failback did, and is started a second time."""
    folders = [tmp_path / "a", tmp_path / "b"]
    with (
        TcpCluster(name="a", brokers=1, data=folders[0], mirror_version=1) as a,
        TcpCluster(name="b", brokers=1, data=folders[1], mirror_version=1) as b,
    ):
        there, back = TcpMirror("dr", source=a, destination=b), TcpMirror("dr", source=b, destination=a)
        b.create_topic("orders", 1)
        there.create()
        there.add_topics(["orders"])
        there.fail_over()
        b.produce("orders", 0, [b"one"])
        back.create()
        back.add_topics(["orders"])
        back.catch_up()
        back.fail_over()
        words = ["--bootstrap-server", a.bootstrap_servers, "--source", b.bootstrap_servers, "--mirror", "dr"]
        code, (line, _) = run(*words)
        assert (code, line.partition(" (")[0]) == (1, "orders-0: offsets 1 to 1 would be removed"), (
            "its own producer reset"
        )
        a.produce("orders", 0, [b"only here"])
        waits = (
            1,
            [
                f"orders-0: would wait: {ONLY_COPY}",
                "no records would be removed (1 partition checked); 1 partition would wait",
            ],
        )
        assert run(*words) == waits
    assert run(*map(str, folders), "--mirror", "dr") == waits


@pytest.mark.parametrize(
    ("asked", "code", "line"),
    [
        (2, 0, "no records would be removed"),
        (99, 2, "would wait: the source's mirror of it from here is not STOPPED yet (STOPPING): try again"),
    ],
)
def test_a_failover_that_ends_is_waited_for(asked: int, code: int, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it takes long, the loss cannot be reported yet: no user has to act, and no script may continue."""
    ask, left = FailbackPreview._request_report, [asked]

    async def stopping(
        self: FailbackPreview, admin: AsyncAdmin, partitions: Collection[TopicPartition]
    ) -> _ClusterReport:
        told = await ask(self, admin, partitions)
        if admin is self.source and left[0]:
            left[0] -= 1
            told.rows = {tp: replace(row, state=MirrorState.STOPPING) for tp, row in told.rows.items()}
        return told

    with TcpCluster(name="a", brokers=1, topics={"orders": 1}) as a, TcpCluster(name="b", brokers=1) as b:
        there = TcpMirror("dr", source=a, destination=b)
        there.create()
        there.add_topics(["orders"])
        there.catch_up()
        there.fail_over()
        monkeypatch.setattr(FailbackPreview, "_request_report", stopping)
        monkeypatch.setattr("kmirror.admin.failback.PAUSE_S", 0)
        words = ["--bootstrap-server", a.bootstrap_servers, "--source", b.bootstrap_servers, "--mirror", "dr"]
        told, lines = run(*words)
    assert (told, lines[0]) == (code, f"orders-0: {line}")


GOES, STAYS = Removal(5, 0, "", batches=1), Removal(5, 0, "")


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([STAYS], 0),
        ([STAYS, GOES], 1),
        ([STAYS, FailbackWait("for a user")], 1),
        ([STAYS, FailbackWait("a moment", is_transient=True)], 2),
        ([FailbackWait("a moment", is_transient=True), GOES], 1),
        ([FailbackWait("a moment", is_transient=True), FailbackWait("for a user")], 1),
    ],
)
def test_the_exit_code_is_0_only_if_a_failback_can_start_and_removes_nothing(
    found: list[Removal | FailbackWait], code: int
) -> None:
    assert exit_code({TopicPartition("orders", index): each for index, each in enumerate(found)}) == code


@pytest.mark.decision("D58")
def test_a_failback_under_another_name_waits_for_the_ring(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    a, b = (TcpCluster(name=path.name, brokers=1, data=path, mirror_version=1) for path in folders)
    with a, b:
        a.create_topic("orders", 1)
        a.produce("orders", 0, [b"one"])
        there = TcpMirror("dr", source=a, destination=b)
        there.create()
        there.add_topics(["orders"])
        there.catch_up()
        TcpMirror("back", source=b, destination=a).create()
        ids = [cluster.cluster_id for cluster in (a, b, a)]
        words = ["--bootstrap-server", a.bootstrap_servers, "--source", b.bootstrap_servers, "--mirror", "back"]
        code, lines = run(*words)
        assert code == 1
        assert lines[0].startswith(
            f"orders-0: would wait: clusters mirror this topic in a ring, {' from '.join(ids)}: remove it"
        )


def test_a_mirror_that_neither_side_has_is_refused(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    servers = ["--bootstrap-server", stage.a.bootstrap_servers, "--source", stage.b.bootstrap_servers]
    for words in (servers, [*map(str, stage.folders)]):
        with pytest.raises(SystemExit) as exit:
            run_main(["failback-preview", *words, "--mirror", "typo"])
        assert exit.value.code == 2
        assert "neither side has a mirror 'typo': there are dr" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--mirror", "m"], "give --bootstrap-server and --source, or two log folders"),
        (["--mirror", "m", "a"], "give two log folders"),
        (["--mirror", "m", "a", "b", "--source", ":1"], "give either two log folders, or"),
        (["--mirror", "m", "--topic", "(", "a", "b"], "is not a regular expression"),
        (["--mirror", "m", "--source", "x", "--bootstrap-server", ":1"], "'x' is not a server"),
    ],
)
def test_a_command_line_that_is_refused(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(["failback-preview", *words])
    assert ended.value.code == 2
    assert text in capsys.readouterr().err
