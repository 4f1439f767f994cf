"""Faults planted in kmirror's code: each is found by its target, within a bounded number of frames of a fixed seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.findings import Finding
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.testing.clusters import cluster
from tests.sim.fuzz.planted import FRAMES, PLANTED, SEED, Planted


@contextmanager
def open_options(row: Planted) -> Iterator[TargetOptions]:
    """Yield the options of the campaign, with a broker behind a port that has the fault if the target needs one."""
    options = TargetOptions(seed=SEED, messages=row.messages)
    if row.target == "bootstrap-server":
        with cluster() as broker:
            yield replace(options, bootstrap_server=broker.bootstrap_servers)
    else:
        yield options


def run_until_finding(row: Planted) -> tuple[int, Finding | None]:
    """Return the number of frames until the finding, and the finding."""
    with open_options(row) as options, ExitStack() as stack:
        target, source = open_target(row.target, options)
        stack.callback(target.close)
        campaign = Campaign(target, source, shrinks=False)
        block = 0
        while True:
            for frame in source.block(block):
                campaign.put(frame)
                if campaign.tally.findings or campaign.tally.frames == row.frames:
                    return campaign.tally.frames, next(iter(campaign.tally.findings.values()), None)
            block += 1


def test_there_are_faults_of_each_target() -> None:
    assert len({row.name for row in PLANTED}) >= 30
    assert {row.target for row in PLANTED} == set(FRAMES)


@pytest.mark.parametrize("row", PLANTED, ids=[f"{row.target} {row.name}".replace(" ", "-") for row in PLANTED])
def test_a_planted_fault_is_found(row: Planted) -> None:
    with row.plant():
        frames, finding = run_until_finding(row)
    assert finding is not None, f"not found in {frames} frames"
    assert finding.kind in row.kinds, f"after {frames} frames: {finding.line}"
