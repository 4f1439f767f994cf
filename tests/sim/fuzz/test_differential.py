"""Differential readers: differences are found, grouped by cause, and shrunk."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.fuzz import command
from kmirror.errors import UsageError
from kmirror.fuzz.batches import BatchStream
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.differential import subprocess_reader
from kmirror.fuzz.differential.broker_reasons import BROKER_REASONS
from kmirror.fuzz.differential.our_reader import OurReader
from kmirror.fuzz.differential.readers import READERS, Reader, open_readers
from kmirror.fuzz.differential.reasons import REASONS, reason_of, tail
from kmirror.fuzz.differential.subprocess_reader import SubprocessReader
from kmirror.fuzz.differential.verdicts import UNREPORTED, Verdict, first_difference, reason, refusal
from kmirror.fuzz.findings import FaultKind, load
from kmirror.fuzz.stream import Frame, Source, Stream
from kmirror.fuzz.targets.differential import DifferentialTarget, MixedStream, open_target
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol.gen.alter_partition_reassignments_response import AlterPartitionReassignmentsResponse
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseTopic
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.records import RecordData, build_batch

FINDINGS = sorted((Path(__file__).parents[2] / "data" / "findings").glob("*.json"))
PEERS = [row.name for row in READERS if row.package]


def frame(message: Message, version: int) -> Frame:
    return Frame(0, message.NAME, version, message.encode(version), (), False, type(message))


def run(target: DifferentialTarget, source: Source, frames: int, *, shrinks: bool = True) -> Tally:
    campaign = Campaign(target, source, shrinks=shrinks)
    with closing(target):
        for _ in campaign.run(frames=frames):
            pass
    return campaign.tally


def stream(*names: str) -> Stream:
    return Stream(1, tuple(by_name(name) for name in names))


class Other(OurReader):
    """Reads like kmirror."""

    name = "other"


class NullForNone(Other):
    """Reads every empty text as null."""

    def read(self, frame: Frame) -> Verdict:
        verdict = super().read(frame)
        return verdict._replace(value=without_empty(verdict.value), rewritten=None)


def without_empty(value: object) -> object:
    match value:
        case dict():
            return {name: without_empty(part) for name, part in value.items()}
        case list():
            return [without_empty(part) for part in value]
    return value or None if isinstance(value, str) else value


class Careless(Other):
    """Ignores the end of the bytes."""

    def read(self, frame: Frame) -> Verdict:
        verdict = super().read(frame)
        return verdict if verdict.is_taken else refusal(IndexError(f"index {len(frame.data)}"), is_typed=False)


class Lenient(Other):
    """Accepts every refused frame."""

    def read(self, frame: Frame) -> Verdict:
        verdict = super().read(frame)
        return verdict if verdict.is_taken else Verdict({})


def test_equal_readers_have_no_findings() -> None:
    source = MixedStream(stream("FetchRequest", "MetadataResponse"), BatchStream(1))
    tally = run(DifferentialTarget([OurReader(), Other()]), source, 2_000)
    assert not tally.findings
    assert 0 < tally.taken < tally.frames == 2_000
    assert {name for name, _, _ in tally.outcomes} >= {"RecordBatch", "FetchRequest"}


def test_another_value_is_one_cause_in_all_messages() -> None:
    tally = run(DifferentialTarget([OurReader(), NullForNone()]), stream("HeartbeatRequest", "SyncGroupRequest"), 4_000)
    cause = "differs ours and other read empty text and null for a string"
    assert tally.messages[cause] == {"HeartbeatRequest", "SyncGroupRequest"}
    assert tally.findings[cause].description.endswith(": '' by ours, None by other")


def test_a_frame_that_only_one_reader_refuses_is_a_difference() -> None:
    tally = run(DifferentialTarget([OurReader(), Lenient()]), stream("HeartbeatRequest"), 400)
    finding = tally.findings["differs other accepts, ours refuses: ProtocolError: N bytes wanted, N left"]
    assert finding.description.startswith("other accepts, ours refuses (")
    assert finding.kind is FaultKind.DIFFERS


def test_an_error_that_no_reader_documents_is_a_finding_by_itself() -> None:
    tally = run(DifferentialTarget([OurReader(), Careless()]), stream("HeartbeatRequest"), 200)
    (finding,) = tally.findings.values()
    assert (finding.kind, finding.cause) == (FaultKind.RAISED, "other: IndexError")


def test_records_are_compared_too() -> None:
    class LastOneLost(Other):
        def read(self, frame: Frame) -> Verdict:
            verdict = super().read(frame)
            for batch in verdict.value or ():
                batch["records"] = batch["records"][:-1]
            return verdict

    tally = run(DifferentialTarget([OurReader(), LastOneLost()]), BatchStream(1), 40, shrinks=False)
    assert "differs ours and other read array and array for RecordBatch.records" in tally.findings


def test_all_differences_of_a_frame_are_counted() -> None:
    class Third(Lenient):
        name = "third"

    tally = run(DifferentialTarget([OurReader(), Careless(), Third()]), stream("HeartbeatRequest"), 200)
    assert {cause.partition(" accepts")[0] for cause in tally.findings} == {"raised other: IndexError", "differs third"}


# -- the readers of others -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def peers() -> Iterator[list[Reader]]:
    found = open_readers(PEERS)
    yield found
    for reader in found:
        reader.close()


def read_by(peers: list[Reader], frame: Frame) -> dict[str, Verdict]:
    found = {reader.name: reader.read(frame) for reader in peers}
    return {name: verdict for name, verdict in found.items() if verdict is not None}


def test_each_reader_decodes_kmirrors_frames(peers: list[Reader]) -> None:
    beat = HeartbeatRequest(group_id="g", generation_id=7, member_id="m")
    verdicts = read_by(peers, frame(beat, 0))
    assert set(verdicts) == {"ours", *PEERS}
    for verdict in verdicts.values():
        assert verdict.value == {"groupId": "g", "generationId": 7, "memberId": "m"}


def test_values_of_their_own_types_become_json(peers: list[Reader]) -> None:
    message = MetadataResponse(throttle_time_ms=9, topics=[MetadataResponseTopic(error_code=3, name="t")])
    verdicts = read_by(peers, frame(message, 12))
    assert set(verdicts) == {"ours", "kio", "kafka-python"}
    for name, verdict in verdicts.items():
        assert first_difference(verdicts["ours"].value, verdict.value) is None, name
        assert verdict.value["topics"][0]["topicId"] == "AAAAAAAAAAAAAAAAAAAAAA"


def test_tagged_fields_of_aiokafka_are_not_reported(peers: list[Reader]) -> None:
    verdicts = read_by(peers, frame(AlterPartitionReassignmentsResponse(error_message="no"), 0))
    assert verdicts["aiokafka"].value["errorMessage"] == "no"


def test_each_reads_our_batches(peers: list[Reader]) -> None:
    data = build_batch([RecordData(b"k", None, [("h", b"v"), ("", b"")], 5)], base_offset=3)
    verdicts = read_by(peers, Frame(0, "RecordBatch", 2, data, (), False))
    assert set(verdicts) == {"ours", *PEERS}
    for name, verdict in verdicts.items():
        assert first_difference(verdicts["ours"].value, verdict.value) is None, name


def test_a_refusal_by_another_reader_is_no_fault(peers: list[Reader]) -> None:
    verdicts = read_by(peers, Frame(0, "HeartbeatRequest", 0, b"\0", (), False, HeartbeatRequest))
    for name, verdict in verdicts.items():
        assert not verdict.is_taken, name
        assert verdict.fault is None, name


def test_a_run_of_all_that_are_installed() -> None:
    target, source = open_target(
        TargetOptions(seed=1, messages=("HeartbeatRequest", "RecordBatch"), readers=tuple(PEERS))
    )
    tally = run(target, source, 300, shrinks=False)
    assert tally.frames == 300
    assert all(not cause.startswith("raised ours") for cause in tally.findings)


# -- separate processes --------------------------------------------------------------------------


class Deadly:
    """Ends its process in the way that its bytes name."""

    version = "deadly"

    def read(self, frame: Frame) -> Verdict | None:
        match frame.data:
            case b"crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case b"hang":
                time.sleep(60)
            case b"grow":
                try:
                    bytearray(1 << 40)
                except MemoryError as error:
                    return refusal(error, is_typed=False)
            case b"exit":
                raise SystemExit("enough")
            case b"print":
                print("hello")
            case b"":
                return None
        return Verdict(frame.data.decode())


@pytest.fixture
def deadly() -> Iterator[SubprocessReader]:
    reader = SubprocessReader("deadly", __name__, "Deadly")
    yield reader
    reader.close()


def frame_of(data: bytes) -> Frame:
    return Frame(0, "HeartbeatRequest", 0, data, (), False, HeartbeatRequest)


def test_a_reader_that_ends_its_process_is_a_verdict(deadly: SubprocessReader) -> None:
    assert deadly.version == "deadly"
    for data, text in ((b"crash", "SIGSEGV"), (b"exit", "exit code 1: enough")):
        found = deadly.read(frame_of(data))
        assert found == Verdict(error=text, fault=FaultKind.RAISED)
        assert deadly.read(frame_of(b"well")) == Verdict("well")
    assert deadly.read(frame_of(b"print")) == Verdict("print")


def test_a_reader_that_takes_all_memory_is_a_verdict(deadly: SubprocessReader) -> None:
    assert deadly.read(frame_of(b"grow")) == Verdict(error="MemoryError: ", fault=FaultKind.MEMORY)


def test_a_reader_that_never_returns_is_a_verdict(deadly: SubprocessReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess_reader, "TIMEOUT_S", 0.2)
    found = deadly.read(frame_of(b"hang"))
    assert found is not None
    assert found.fault is FaultKind.SLOW


def test_an_unknown_message_is_tried_only_once(deadly: SubprocessReader) -> None:
    assert deadly.read(frame_of(b"")) is None
    deadly.close()
    assert deadly.read(frame_of(b"crash")) is None  # No process is started for it.


# -- values, reasons, options ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b"),
        ({"a": 1}, {}, "a"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": True}, {"a": 1}, "a"),
        ({"a": None}, {"a": ""}, "a"),
    ],
)
def test_where_values_part(left: object, right: object, path: str) -> None:
    found = first_difference(left, right)
    assert found is not None
    assert found.path == path
    assert first_difference(left, left) is None


def test_an_unreported_value_equals_anything() -> None:
    assert first_difference({"a": UNREPORTED}, {}) is None


def test_a_reason_has_no_numbers() -> None:
    assert reason("ValueError: 17 bytes at -3 (at field topics[0].name, byte 8)") == "ValueError: N bytes at N"
    assert reason("KeyError: 'x'") == reason("KeyError: 'y'")


def test_a_difference_has_a_reason_only_where_it_holds() -> None:
    cause = "ours accepts, kafka refuses: CorruptRecordException: Record size N is less than the minimum"
    batch = build_batch([RecordData(b"k", b"v")])
    assert tail(batch * 2 + b"rest") == b"rest"
    assert reason_of(cause, batch + bytes(15)) is not None
    assert reason_of(cause, batch + bytes(30)) is None
    assert reason_of("ours accepts, kafka refuses: something else", batch) is None
    assert len({row.cause for row in REASONS}) == len(REASONS)


@pytest.mark.parametrize(
    ("names", "text"),
    [(("aiokafkas",), "did you mean aiokafka"), (("kafka",), "--kafka-jars DIR"), (("ours",), "no reader")],
)
def test_readers_that_cannot_be_had(names: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KMIRROR_KAFKA_JARS", raising=False)
    with pytest.raises(UsageError, match=text):
        open_readers(names)


def test_the_command_lists_the_messages_of_a_cause() -> None:
    words = ["differential", "--readers", "ours,kafka-python", "--message", "HeartbeatRequest"]
    done = CliRunner().invoke(command, [*words, "--seed", "1", "--frames", "60", "--no-shrink", "-o", "json"])
    result = json.loads(done.stdout)
    assert result["findings"]
    assert all(each["messages"] == ["HeartbeatRequest"] for each in result["findings"])


def test_every_expected_difference_is_in_the_manual() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "fuzzing-in-depth.md").read_text(encoding="utf-8")
    assert [row for row in REASONS if f"| {row.case} | {row.explanation} |" not in manual] == []


@pytest.mark.parametrize("path", FINDINGS, ids=[path.stem for path in FINDINGS])
def test_findings_about_other_libraries_are_in_the_manual(path: Path) -> None:
    assert load(path).frame
    assert path.stem in (Path(__file__).parents[3] / "docs" / "findings.md").read_text(encoding="utf-8")


def test_the_manual_lists_intended_differences_of_brokers(root: Path) -> None:
    page = (root / "docs/fuzzing-in-depth.md").read_text(encoding="utf-8")
    rows = {f"| {row.case} | {row.explanation} |" for row in BROKER_REASONS}
    table = page.partition("### Where our broker differs from Kafka's\n")[2].partition("\n## ")[0]
    assert {line for line in table.splitlines() if line.startswith("| ")} == rows | {"| difference | reason |"}
