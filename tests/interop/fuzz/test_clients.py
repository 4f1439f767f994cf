"""The programs of three libraries get far enough under `kmirror fuzz client` that all they ask is broken at times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kmirror.fuzz.clients.campaign import Client, ClientCampaign
from kmirror.fuzz.clients.door import Door
from kmirror.fuzz.clients.served import OwnCluster

HERE = Path(__file__).parent
ANSWERS = 120
ASKED = {"ApiVersions", "Metadata", "Produce", "Fetch", "FindCoordinator", "JoinGroup", "SyncGroup", "OffsetCommit"} | {
    "OffsetFetch", "ListOffsets", "LeaveGroup", "CreateTopics", "DeleteTopics", "ListGroups",
}  # fmt: skip


def program(family: str) -> tuple[str, ...]:
    return sys.executable, str(HERE / f"{family}.py"), "{bootstrap}", "{session}"


@pytest.mark.parametrize("family", ["kafka_python", "aio", "confluent"])
def test_a_library_is_fuzzed(family: str) -> None:
    door = Door()
    with OwnCluster(door) as front:
        campaign = ClientCampaign(Client(program(family)), front, door, 7, shrinks=False)
        *_, tally = campaign.run(frames=ANSWERS)
    # What the libraries do wrong by then is theirs: docs/findings.md.
    assert {f"{name}Response" for name in ASKED} <= {row.message for row in tally.rows}
    assert 0 < tally.taken < tally.frames
    assert tally.ends["exit code 0"]
