"""The programs of three libraries under `kmirror fuzz client` get broken responses; findings are reproduced."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from kmirror.fuzz.clients.campaign import Client, ClientCampaign, entries_of
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.servers import OwnCluster
from kmirror.fuzz.findings import FaultKind, Finding, load

HERE = Path(__file__).parent
FINDINGS = {path.stem: load(path) for path in sorted((HERE.parents[1] / "data" / "fuzz" / "clients").glob("*.json"))}
PROGRAMS = sorted({finding.story[0] for finding in FINDINGS.values()})
RESPONSES = 120
ATTEMPTS = 4
"""Some crashes of librdkafka depend on the timing of its threads."""
TIMEOUT_S = 20.0
SHORT_TIMEOUT_S = 8.0
"""For findings that are known not to end."""
ENDLESS = (FaultKind.SILENT, FaultKind.SLOW)
TRIES = 25
"""Threads of librdkafka do not always send in the same order."""
APIS = {"ApiVersions", "Metadata", "Produce", "Fetch", "FindCoordinator", "JoinGroup", "SyncGroup", "OffsetCommit"} | {
    "OffsetFetch", "ListOffsets", "LeaveGroup", "CreateTopics", "DeleteTopics", "ListGroups",
}  # fmt: skip


def client(family: str, *steps: str, timeout_s: float = TIMEOUT_S) -> Client:
    command = (sys.executable, str(HERE / f"{family}.py"), "{bootstrap}", "{session}", *steps)
    return Client(command, timeout_s, is_strict=True)


@pytest.mark.parametrize("family", ["kafka_python", "aio", "confluent"])
def test_a_library_is_fuzzed(family: str) -> None:
    interceptor = ResponseInterceptor()
    with OwnCluster(interceptor) as cluster:
        campaign = ClientCampaign(client(family), cluster, interceptor, 7, shrinks=False)
        *_, tally = campaign.run(frames=RESPONSES)
    # Other faults of the libraries are their own: docs/findings.md.
    assert {f"{name}Response" for name in APIS} <= {row.message for row in tally.reactions}
    assert 0 < tally.taken < tally.frames
    assert tally.program_outcomes["exit code 0"]


def is_of_this_release(finding: Finding) -> bool:
    """Return whether the installed release is the one with the finding; a newer one may have fixed it."""
    _, name, release = finding.story[1].split()
    return version(name) == release


def causes_of(campaign: ClientCampaign, finding: Finding) -> list[str]:
    """Return the causes when the same responses are repeated, up to the finding's cause."""
    causes: list[str] = []
    for _ in range(TRIES):
        fault = campaign.replay(entries_of(finding), 1)
        causes += [] if fault is None else [fault.cause]
        if finding.cause in causes:
            break
    return causes


@pytest.mark.parametrize("program", PROGRAMS, ids=[" ".join(line.split("/")[-1].split()[::3]) for line in PROGRAMS])
def test_findings_are_reproduced(program: str) -> None:
    """Each program of docs/findings.md behaves with the stored responses as documented there."""
    cases = {name: finding for name, finding in FINDINGS.items() if finding.story[0] == program}
    if not all(map(is_of_this_release, cases.values())):
        pytest.skip("found in another release of the library")
    _, _, script, *_, step = program.split()
    interceptor = ResponseInterceptor()
    with OwnCluster(interceptor) as cluster:
        causes: dict[str, list[str]] = {}
        for timeout_s, findings in (
            (TIMEOUT_S, {name: finding for name, finding in cases.items() if finding.kind not in ENDLESS}),
            (SHORT_TIMEOUT_S, {name: finding for name, finding in cases.items() if finding.kind in ENDLESS}),
        ):
            if findings:
                campaign = ClientCampaign(client(Path(script).stem, step, timeout_s=timeout_s), cluster, interceptor, 0)
                campaign.measure_baseline()
                for name, finding in findings.items():
                    for _ in range(ATTEMPTS):
                        causes[name] = causes_of(campaign, finding)
                        if finding.cause in causes[name]:
                            break
    assert {name: finding.cause for name, finding in cases.items() if finding.cause not in causes[name]} == {}, causes
