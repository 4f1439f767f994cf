"""Recorded requests are valid frames, and are mutated at their parts."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.fuzz import command
from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.mutations import Step
from kmirror.fuzz.stream import BLOCK_FRAMES
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message

BODIES: tuple[tuple[Message, int], ...] = (
    (MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12),
    (HeartbeatRequest(group_id="group", member_id="member"), 4),
    (ApiVersionsRequest(client_software_name="client", client_software_version="1"), 3),
)
FRAMES = tuple(
    encode_request(body, version, correlation_id=number, client_id="recorded")
    for number in range(20)
    for body, version in BODIES
)
UNKNOWN = b"\x7f\xff\0\0\0\0\0\1\xff\xff"


def test_blocks_are_of_recorded_requests_each_api_as_often() -> None:
    target, source = open_target("node", TargetOptions(seed=1, recorded=(*FRAMES[:3], *FRAMES[1::3], UNKNOWN, b"")))
    names: dict[str, int] = {}
    for number in range(60):
        first, *others = source.block(number)
        assert first.is_valid and first.data in FRAMES and len(others) == BLOCK_FRAMES - 1
        names[first.name] = names.get(first.name, 0) + 1
    target.close()
    assert set(names) == {body.NAME for body, _ in BODIES}
    assert min(names.values()) >= 12


def test_a_reader_of_bodies_gets_bodies() -> None:
    _, source = open_target("decoder", TargetOptions(recorded=FRAMES))
    bodies = {body.encode(version): body.NAME for body, version in BODIES}
    assert all(bodies[source.block(number)[0].data] == source.block(number)[0].name for number in range(20))


@pytest.mark.parametrize("name", ["decoder", "request", "node"])
def test_recorded_requests_are_mutated_at_their_parts(name: str) -> None:
    target, source = open_target(name, TargetOptions(seed=4, recorded=FRAMES))
    campaign = Campaign(target, source, feedback=True)
    for _ in campaign.run(frames=2_000):
        pass
    target.close()
    assert not campaign.tally.findings
    assert 200 < campaign.tally.taken < 1_800
    steps = {step.mutation.name for block in range(20) for frame in source.block(block) for step in frame.steps
             if isinstance(step, Step)}  # fmt: skip
    assert {"one more", "null", "broken UTF-8", "varint made longer", "one tag more", "cut inside"} <= steps


def test_frames_of_a_seed_are_the_same_in_any_order() -> None:
    _, one = open_target("request", TargetOptions(seed=5, recorded=FRAMES))
    _, other = open_target("request", TargetOptions(seed=5, recorded=FRAMES))
    blocks = [one.block(number) for number in range(6)]
    assert [other.block(number) for number in reversed(range(6))] == blocks[::-1]


@pytest.mark.parametrize(
    ("target", "options", "text"),
    [
        ("decoder", TargetOptions(recorded=(UNKNOWN, b"")), "none of the 2 recorded requests"),
        ("decoder", TargetOptions(recorded=FRAMES, messages=("FetchRequest",)), "none of the 60 recorded requests"),
        ("batch", TargetOptions(recorded=FRAMES), "the target batch takes no messages"),
    ],
)
def test_unusable_recordings_are_refused(target: str, options: TargetOptions, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        open_target(target, options)


def line(frame: bytes) -> str:
    fields = {
        "port": "bootstrap",
        "link": 1,
        "api": "X",
        "version": 0,
        "latency_ms": 1,
        "is_cut": False,
        "errors": [],
    }
    return json.dumps({**fields, "request_bytes": base64.b64encode(frame).decode("ascii")}) + "\n"


def test_the_command_reads_the_proxys_recordings(tmp_path: Path) -> None:
    path = tmp_path / "record"
    path.write_text("".join(map(line, FRAMES)))
    options = ["--seed", "1", "--frames", "500", "--recorded", str(path)]
    done = CliRunner().invoke(command, ["decoder", *options, "-o", "json"], standalone_mode=False)
    assert done.return_value == 0, done.output
    assert json.loads(done.output)["frames"] == 500
    path.write_text(line(b""))
    done = CliRunner().invoke(command, ["decoder", *options], standalone_mode=False)
    assert isinstance(done.exception, UsageError) and "contains no request" in str(done.exception)
