"""A campaign: frames by their seed, findings by their cause, smaller frames, files that are run again."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from kmirror.errors import ProtocolError, UsageError
from kmirror.fuzz.batches import BatchStream, assemble, draw_batch, draw_legacy
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.findings import Fault, FaultKind, Finding, keep, load
from kmirror.fuzz.replay import replay
from kmirror.fuzz.shrink import shrink
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame, Stream
from kmirror.fuzz.target import Stateless
from kmirror.fuzz.targets.decoder import DecoderTarget
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.records.legacy import iter_any_batches

FRAMES = 3_000


def stream(seed: int = 1, *messages: str) -> Stream:
    return Stream(seed, tuple(by_name(name) for name in messages or ("FetchRequest", "HeartbeatRequest")))


class Stumbling(Stateless):
    """A target that fails on one byte value."""

    name = "stumbling"

    def judge(self, frame: Frame) -> str:
        if b"\xff" in frame.data:
            raise Fault(FaultKind.RAISED, "IndexError: 255", "IndexError", "a typed error")
        return "taken"


def run(campaign: Campaign, frames: int) -> Campaign:
    for _ in campaign.run(frames=frames):
        pass
    return campaign


@pytest.mark.parametrize("name", ["decoder", "request", "batch", "internal-topics"])
def test_kmirrors_targets_have_no_findings(name: str) -> None:
    target, source = open_target(name, TargetOptions(seed=11))
    tally = run(Campaign(target, source), FRAMES).tally
    assert tally.frames == FRAMES
    assert not tally.findings
    assert FRAMES * 0.05 < tally.taken < FRAMES * 0.95


def test_a_frame_is_named_by_seed_and_number() -> None:
    frames = [frame for block in range(4) for frame in stream().block(block)]
    assert [frame.number for frame in frames] == list(range(4 * BLOCK_FRAMES))
    for number in (0, 31, 32, 77):
        assert stream().frame(number).data == frames[number].data
    assert [frame.is_valid for frame in frames[: BLOCK_FRAMES + 1]] == [True, *[False] * 31, True]
    assert stream(2).frame(1).data != frames[1].data


def test_a_cause_is_found_once_and_counted() -> None:
    reported: list[Finding] = []
    campaign = run(Campaign(Stumbling(), stream(), on_finding=reported.append), FRAMES)
    (finding,) = campaign.tally.findings.values()
    assert reported == [finding]
    assert campaign.tally.counts == {"raised IndexError": campaign.tally.counts["raised IndexError"]}
    assert campaign.tally.counts["raised IndexError"] > 10
    assert finding.frame == b"\xff"  # The rest of the frame is not needed.
    assert finding.story
    assert finding.line == f"raised: {finding.message} v{finding.version}: IndexError: 255"


def test_feedback_mutates_frames_with_new_behaviour() -> None:
    plain = run(Campaign(DecoderTarget(), stream()), FRAMES).tally
    with_feedback = run(Campaign(DecoderTarget(), stream(), feedback=True), FRAMES).tally
    assert plain.frames == with_feedback.frames
    assert with_feedback.outcomes != plain.outcomes
    again = run(Campaign(DecoderTarget(), stream(), feedback=True), FRAMES).tally
    assert again.outcomes == with_feedback.outcomes


class WithoutAByte(HeartbeatRequest):
    """A reader with a fault: it reads beyond the end, and raises an IndexError."""

    @classmethod
    def decode(cls, buffer: object, version: int, **options: object) -> HeartbeatRequest:  # type: ignore[override]
        assert isinstance(buffer, bytes)
        try:
            return HeartbeatRequest.decode(buffer, version)
        except ProtocolError:
            raise IndexError("index out of range") from None


def test_an_exception_of_a_reader_is_a_finding_with_its_place() -> None:
    messages: tuple[type[Message], ...] = (WithoutAByte,)
    tally = run(Campaign(DecoderTarget(), Stream(1, messages)), 200).tally
    (finding,) = tally.findings.values()
    assert finding.description == "IndexError: index out of range in test_campaign.py:decode"


def test_a_finding_is_kept_and_tried_again(tmp_path: Path) -> None:
    (finding,) = run(Campaign(Stumbling(), stream()), FRAMES).tally.findings.values()
    stored = Finding(**{**{name: getattr(finding, name) for name in Finding.__dataclass_fields__}, "target": "decoder"})
    path = keep(stored, tmp_path / "corpus")
    assert load(path) == stored
    assert keep(stored, tmp_path / "corpus") == path
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert replay(load(path)) is None  # kmirror's decoder refuses that byte correctly.


@pytest.mark.parametrize("text", ["", "[]", '{"kmirror_fuzz": 2}', '{"kmirror_fuzz": 1, "kind": "raised"}'])
def test_an_invalid_findings_file_is_refused_with_its_path(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"x\.json: "):
        load(path)


def test_no_target_of_that_name() -> None:
    with pytest.raises(UsageError, match="did you mean decoder"):
        open_target("decodr", TargetOptions())


def test_shrinking_keeps_only_the_failing_part() -> None:
    data = bytes(range(100)) + b"needle" + bytes(range(100))
    assert shrink(data, lambda candidate: b"needle" in candidate) == b"needle"
    tried: list[bytes] = []
    shrink(data, lambda candidate: bool(tried.append(candidate)), tries=50)
    assert len(tried) == 50


def test_drawn_batches_can_be_read() -> None:
    from random import Random

    for seed in range(300):
        random = Random(seed).random
        for parts in (draw_batch(random), draw_legacy(random)):
            data = bytes(assemble(parts))
            (batches, records) = (0, 0)
            for batch in iter_any_batches(data, check_crc=True):
                batches += 1
                records += len(list(batch.records()))
            assert batches and records


def test_batches_of_a_seed_are_the_same_in_any_order() -> None:
    one, other = BatchStream(5), BatchStream(5)
    blocks = [one.block(number) for number in range(6)]
    assert [other.block(number) for number in reversed(range(6))] == blocks[::-1]


def strict(data: bytes, name: str, version: int) -> object:
    """A decoder of another project, which gets the name and version of the message."""
    try:
        return by_name(name).decode(data, version)
    except ProtocolError as error:
        raise ValueError(str(error)) from None


def careless(data: bytes) -> object:
    """A decoder that ignores the end of the bytes."""
    return data[7]


def test_a_function_is_a_target() -> None:
    options = TargetOptions(messages=("HeartbeatRequest",))
    target, source = open_target(f"python:{__name__}:strict", options)
    assert not run(Campaign(target, source), 500).tally.findings
    target, source = open_target(f"python:{__name__}:careless", options)
    found = run(Campaign(target, source), 500).tally.findings.values()
    assert "IndexError: index out of range in test_campaign.py:careless" in {finding.description for finding in found}


@pytest.mark.parametrize("path", ["nowhere:f", "json:nothing", "json"])
def test_an_unknown_function_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match=path.partition(":")[0]):
        open_target(f"python:{path}", TargetOptions())


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("print('taken')", set()),
        ("import sys; sys.exit(3)", {"exit code 3: "}),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", {"signal 11: "}),
        ("print('hello')", {"no verdict: 'hello'"}),
        ("raise KeyError('topics')", {"exit code 1: KeyError: 'topics'"}),
    ],
)
def test_a_program_is_a_target(script: str, found: set[str]) -> None:
    target, source = open_target("command", TargetOptions(command=(sys.executable, "-c", script)))
    tally = run(Campaign(target, source, shrinks=False), 2).tally
    assert {finding.description for finding in tally.findings.values()} == found


@pytest.mark.parametrize("address", ["8.8.8.8:9092", "nowhere", "127.0.0.1:x"])
def test_no_broker_but_on_this_host(address: str) -> None:
    with pytest.raises(UsageError):
        open_target("bootstrap-server", TargetOptions(bootstrap_server=address))


def test_shrinking_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmirror.fuzz.shrink.SECONDS_MAX", 0.0)
    tried: list[bytes] = []
    shrink(bytes(100), lambda candidate: bool(tried.append(candidate)))
    assert not tried


class Slow(Stumbling):
    """A slow target with state that fails on one byte value."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    @property
    def before(self) -> Sequence[bytes]:
        return self.frames[:-1]

    def reset(self) -> None:
        self.frames = []

    def judge(self, frame: Frame) -> str:
        self.frames.append(frame.data)
        time.sleep(0.01)
        if len(self.frames) >= 20:
            raise Fault(FaultKind.RAISED, "IndexError: 255", f"the {len(self.frames)}th", "a typed error")
        return "taken"


def test_findings_are_shrunk_within_the_time_of_the_campaign() -> None:
    campaign = Campaign(Slow(), stream())
    began = time.monotonic()
    for _ in campaign.run(seconds=0.5):
        pass
    assert time.monotonic() - began < 2  # A hundred attempts with 20 frames before each take half a minute.
    assert campaign.tally.findings
