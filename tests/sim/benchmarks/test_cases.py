"""The cases of a group: all gates exist, and both sides of a pair do their work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import __main__ as suite
from benchmarks import big_logs, log, long_lines, mirror, mirror_limit, mirror_servers, pass_through, tools
from benchmarks.big_logs import Shape
from kmirror.logdir.faults import Tally
from kmirror.logdir.verify.partition import open_job, verify
from kmirror.records import Compression, iter_batches
from kmirror.records.batch import Batch

KIB = 1024


def test_every_gate_of_the_log_and_of_records_has_cases() -> None:
    assert {case.id for case in suite.GROUPS["log"]()} == {f"P{number}" for number in range(1, 9)}
    assert {case.id for case in suite.GROUPS["records"]()} == {f"R{number}" for number in range(1, 5)}


def test_rows_have_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "class_path", lambda: "/kafka-tools-4.3.1.jar")
    found = [(case.id, case.case, case.peer) for group in suite.GROUPS.values() for case in group()]
    assert len(set(found)) == len(found)


def test_without_kafka_its_rows_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tools, "class_path", lambda: None)
    assert tools.PEER not in {case.peer for case in tools.cases()}
    assert "KMIRROR_KAFKA_JARS" in capsys.readouterr().err


def test_the_version_of_kafka_is_in_the_names_of_its_jars(tmp_path: Path) -> None:
    (tmp_path / "kafka-tools-4.3.1.jar").touch()
    assert tools.kafka_version(f"{tmp_path}/*") == "4.3.1"
    assert tools.kafka_version("/m2/kafka-clients-4.2.0.jar:/m2/kafka-tools-4.2.0.jar") == "4.2.0"
    assert tools.kafka_version("/m2/other.jar") == "-"


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
def test_a_large_log_equals_one_of_a_broker(codec: Compression) -> None:
    shape = Shape(f"test {codec.name}", 16 * KIB, codec)
    folder = big_logs.partition(shape, 256 * KIB)
    told: list[object] = []
    tally = Tally(told.append)
    verify(open_job(folder, tally), tally, decodes=True)
    assert not told
    assert tally.bytes > 200 * KIB
    assert tally.index_entries
    assert tally.batches > 10
    (segment,) = big_logs.segments(folder)
    first: Batch = next(iter_batches(segment.read_bytes()))
    assert abs(first.size_in_bytes - 16 * KIB) < 4 * KIB
    assert first.compression is codec
    assert len(list(first.records())) == first.record_count


@pytest.mark.parametrize("codec", list(Compression))
def test_both_sides_of_passing_through_work(codec: Compression) -> None:
    for ours, theirs in [pass_through.compare_with_codec(codec, 128 * KIB)()] if codec else []:
        ours(), theirs()
    pytest.importorskip("aiokafka")
    ours, theirs = pass_through.compare_with_reencoding(codec, 16 * KIB, 100)()
    ours(), theirs()


def test_a_cycle_copies_every_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_through, "RUN_BYTES", 1 << 18)
    ours, theirs = pass_through.mirror_cycle(16 * KIB, 4)()  # The cycle asserts that the bytes arrive.
    ours(), theirs()


def test_the_file_append_writes_its_files_in_a_temporary_folder() -> None:
    ours, theirs = log.file_pair(64 * KIB)()
    ours(), theirs()


def test_programs_of_child_processes_run(tmp_path: Path) -> None:
    folder = big_logs.partition(Shape("test", KIB), 64 * KIB)
    if Path("/proc/self/status").exists():
        assert tools.peak(folder) > 1000
    assert tools.seconds(["true"]) < 10
    command = [*tools.kmirror("verify", str(folder))]
    assert "no fault" in tools.output(command)
    checksum = [command[0], "-c", tools.CHECKSUM, str(tools.ROOT), str(big_logs.segments(folder)[0])]
    assert subprocess.run(checksum, check=False).returncode == 0


def test_mirroring_has_a_gate_for_each_codec_and_is_left_out_without_mirror_maker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mirror.net_servers, "version", lambda: "4.3.1")
    monkeypatch.setattr(mirror, "mirror_maker_class_path", lambda: None)
    assert not mirror.cases()
    monkeypatch.setattr(mirror, "mirror_maker_class_path", lambda: "/*")
    found = mirror.cases()
    assert {case.id for case in found} == {"M1", "M2", "M3", "M4"}
    floors = {(case.id, case.floor) for case in found if case.id in ("M1", "M2")}
    assert floors == {("M1", 15), ("M1", 40), ("M2", 2), ("M1", None), ("M2", None)}
    # Warm JVMs and small records have no gates; the gates are for the first bytes after the start, for each codec.
    compared = [case for case in found if case.id in ("M1", "M2")]
    told = {case.case for case in compared if "JVMs warm" in case.case or "100-byte" in case.case}
    assert {case.case for case in compared if case.floor is None} == told
    gated = {case.case.rpartition(", ")[2] for case in compared if case.floor is not None}
    assert gated == {"none", "gzip", "snappy", "lz4", "zstd"}


def test_the_limit_of_a_mirror_is_measured() -> None:
    assert 0 < mirror_limit.cpu_s(2 * mirror_limit.ANSWER_BYTES, 16 * KIB) < 10


def test_a_mirror_and_a_consumer_over_a_line_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lines, "BATCHES", 64)
    assert 40 < long_lines.mirror_rate.__wrapped__(1) <= long_lines.LINE_MB
    assert 40 < long_lines.consumer_rate.__wrapped__(1) <= long_lines.LINE_MB
    assert {case.id for case in long_lines.cases()} == {"L1", "L2", "L3"}


@pytest.mark.parametrize("load", mirror.LOADS)
def test_records_have_the_requested_size_and_are_all_different(load: mirror.Load) -> None:
    found = mirror.values(load.record_bytes)
    assert {len(value) for value in found} == {load.record_bytes}
    assert len(set(found)) == len(found)


def test_mirror_maker_needs_its_own_jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = tools.mirror_maker_class_path.__wrapped__
    monkeypatch.setattr(tools, "class_path", lambda: f"{tmp_path}/*")
    (tmp_path / "connect-mirror-client-4.3.1.jar").touch()
    assert find() is None
    (tmp_path / "connect-mirror-4.3.1.jar").touch()
    assert find() == f"{tmp_path}/*"


def test_a_cost_has_settled_when_it_no_longer_falls() -> None:
    assert not mirror.is_settled([1.0] * 5)
    assert mirror.is_settled([3.0, 2.0, 1.0, 1.1, 0.98, 1.2])
    assert not mirror.is_settled([3.0, 2.0, 1.0, 1.1, 0.96, 1.2])


def test_log_bytes_are_those_of_the_topic_and_stay_when_their_pages_go(tmp_path: Path) -> None:
    for name in ("mirrored-0/1.log", "mirrored-3/2.log", "mirrored-3/2.index", "other-0/1.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 1_000)
    mirror_servers.drop_cached_pages(tmp_path)
    assert mirror_servers.log_bytes(tmp_path) == 2_000
    assert (tmp_path / "mirrored-0/1.log").read_bytes() == b"x" * 1_000


def test_lags_are_compared_by_quarters() -> None:
    assert [list(part) for part in mirror.quarters([1.0, 2.0, 3.0, 4.0])] == [[1.0], [2.0], [3.0], [4.0]]
    assert mirror.percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert mirror.percentile([float(number) for number in range(100)], 99) == 99.0
