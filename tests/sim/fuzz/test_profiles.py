"""Effects of a profile on a stream: other weights, the same grammar, and an unchanged default."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.fuzz import command
from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.mutations import DEFAULT_TABLE, MUTATIONS, Step, table
from kmirror.fuzz.profiles import API_WEIGHT, DEFAULT, PROFILES
from kmirror.fuzz.spots import SpotKind
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.registry import APIS
from kmirror.protocol.gen.request_header import RequestHeader

NAMES = [row.name for row in PROFILES]
API_NAMES = {row[0] for row in APIS.values()}


def frames(profile: str, target: str = "request", blocks: int = 150) -> list[Frame]:
    opened, source = open_target(target, TargetOptions(seed=2, profile=profile))
    opened.close()
    return [frame for number in range(blocks) for frame in source.block(number)]


def steps(drawn: list[Frame]) -> Counter[str]:
    return Counter(step.mutation.name for frame in drawn for step in frame.steps if isinstance(step, Step))


def test_the_rows_name_existing_messages() -> None:
    known = {row.name for row in MUTATIONS}
    for row in PROFILES:
        assert set(row.mutations) <= known, row.name
        assert set(row.apis) <= API_NAMES, row.name
    assert NAMES[0] == DEFAULT and len(set(NAMES)) == len(NAMES)


def test_a_seed_names_the_same_stream_as_ever() -> None:
    """Findings are named by seed and number: a change of the frames of a seed must be deliberate."""
    _, source = open_target("decoder", TargetOptions(seed=2, messages=("HeartbeatRequest", "SyncGroupResponse")))
    digest = hashlib.sha256(b"".join(frame.data for number in range(40) for frame in source.block(number))).hexdigest()
    assert digest.startswith("26da0eb87e87e21d")


@pytest.mark.parametrize("name", NAMES)
def test_frames_of_each_profile_are_judged_and_nothing_is_found(name: str) -> None:
    for target in ("decoder", "request"):
        campaign = Campaign(*open_target(target, TargetOptions(seed=3, profile=name)), feedback=True)
        for _ in campaign.run(frames=1_500):
            pass
        assert not campaign.tally.findings


def test_realistic_frames_are_valid_half_of_the_time_and_different_ones() -> None:
    found = frames("realistic")
    valid = [frame for frame in found if frame.is_valid]
    assert 0.45 < len(valid) / len(found) < 0.6
    assert len({frame.data for frame in valid}) > 0.8 * len(valid)
    assert not steps(found).keys() & {"noise", "cut inside", "a bit", "the greatest"}


def test_hostile_frames_have_extremes() -> None:
    hostile, usual = steps(frames("hostile")), steps(frames(DEFAULT))
    for name in ("below null", "varint made longer", "one more than is left"):
        assert hostile[name] / hostile.total() > 2 * usual[name] / usual.total(), name
    assert set(hostile) == set(usual)


def test_a_profile_keeps_to_its_apis_or_prefers_them() -> None:
    assert {frame.name for frame in frames("mirror")} <= {
        f"{api}Request" for row in PROFILES if row.name == "mirror" for api in row.apis
    }
    names = Counter(frame.name for frame in frames("produce", blocks=600))
    assert names["ProduceRequest"] > 3 * names["HeartbeatRequest"] > 0
    _, source = open_target("decoder", TargetOptions(profile="groups"))
    assert source.messages.count(source.messages[0]) == API_WEIGHT  # type: ignore[attr-defined]
    assert {message.TYPE for message in source.messages} == {"request", "response"}  # type: ignore[attr-defined]


def test_a_kind_without_weights_keeps_its_mutations() -> None:
    none = table(dict.fromkeys((row.name for row in MUTATIONS), 0))
    assert none == DEFAULT_TABLE
    only = table({row.name: row.name == "null" for row in MUTATIONS})
    assert {row.name for row in only[SpotKind.LENGTH]} == {"null"}
    assert only[SpotKind.TEXT] == DEFAULT_TABLE[SpotKind.TEXT]


@pytest.mark.parametrize(
    ("target", "options", "text"),
    [
        ("decoder", TargetOptions(profile="group"), "unknown profile 'group'; did you mean groups"),
        ("batch", TargetOptions(profile="groups"), "needs a target that takes messages"),
        ("decoder", TargetOptions(profile="groups", messages=(RequestHeader.NAME,)), "none of the messages"),
    ],
)
def test_invalid_profiles_are_refused(target: str, options: TargetOptions, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        open_target(target, options)


def test_the_command_lists_and_accepts_profiles() -> None:
    done = CliRunner().invoke(command, ["--list", "-o", "json"], standalone_mode=False)
    assert [row["name"] for row in json.loads(done.output)["profiles"]] == NAMES
    options = ["decoder", "--seed", "1", "--frames", "320", "--profile", "groups", "-o", "json"]
    done = CliRunner().invoke(command, options, standalone_mode=False)
    assert json.loads(done.output)["profile"] == "groups"


def test_the_manual_has_every_profile() -> None:
    page = (Path(__file__).parents[3] / "docs" / "fuzzing.md").read_text(encoding="utf-8")
    for row in PROFILES:
        assert f"\n| {row.name} | " in page, row.name
        assert row.about in page, row.name
