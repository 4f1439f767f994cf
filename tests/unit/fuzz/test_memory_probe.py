"""Memory is watched in one process for all frames of a campaign, and reported for each of them separately."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kmirror.errors import ProtocolError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets.decoder import DecoderTarget, open_target
from kmirror.fuzz.targets.memory_probe import MemoryProbe
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse

MIB = 1 << 20


class Large(HeartbeatResponse):
    """Allocates the number of MiB in its first byte, and refuses frames that begin with 0 after allocating one."""

    @classmethod
    def decode(cls, data: Any, version: int, **options: Any) -> Any:
        allocated = bytearray(max(1, data[0]) * MIB)
        if not data[0]:
            raise ProtocolError("nothing")
        return len(allocated)


class Ending(HeartbeatResponse):
    @classmethod
    def decode(cls, data: Any, version: int, **options: Any) -> Any:
        os._exit(3)


@pytest.fixture
def probe() -> Iterator[MemoryProbe]:
    with closing(MemoryProbe()) as opened:
        yield opened


def test_each_reading_is_measured_separately(probe: MemoryProbe) -> None:
    for mib, data in ((3, b"\3"), (1, b"\1"), (1, b"\0"), (2, b"\2")):
        peak = probe.peak_bytes(Large, 4, data)
        assert peak is not None and mib * MIB <= peak < (mib + 1) * MIB
    small = probe.peak_bytes(HeartbeatResponse, 4, bytes(7))
    assert small is not None and small < 64 * 1_024


def test_a_reading_that_ends_its_process_does_not_stop_others(probe: MemoryProbe) -> None:
    assert probe.peak_bytes(Ending, 4, b"") is None
    assert probe.peak_bytes(Large, 4, b"\1")


def test_too_much_memory_is_a_finding() -> None:
    with closing(DecoderTarget()) as target:
        for message, text in ((Large, "bytes for a frame of 1"), (Ending, "the end of the process")):
            with pytest.raises(Fault, match=text) as caught:
                target.check_memory(Frame(0, "HeartbeatResponse", 4, b"\1", (), False, message))
            assert caught.value.kind is FaultKind.MEMORY


def test_a_campaign_watches_memory_in_one_process_that_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    process_ids, readings = list[int](), list[int]()
    fork, peak_bytes = os.fork, MemoryProbe.peak_bytes

    def fork_recorded() -> int:
        process_ids.append(fork())
        return process_ids[-1]

    def peak_bytes_counted(probe: MemoryProbe, *arguments: Any) -> int | None:
        readings.append(0)
        return peak_bytes(probe, *arguments)

    def refuse_start(*_: object) -> None:
        raise AssertionError("what is traced in this process loses memory at each end, and is slow until then")

    monkeypatch.setattr(os, "fork", fork_recorded)
    monkeypatch.setattr(MemoryProbe, "peak_bytes", peak_bytes_counted)
    target, source = open_target(TargetOptions(seed=1))
    with closing(target):
        # The first forked process has started to trace by itself, and is excluded.
        target.check_memory(next(iter(source.block(0))))
        monkeypatch.setattr(tracemalloc, "start", refuse_start)
        *_, tally = Campaign(target, source).run(frames=6_000)
    assert not tally.findings
    assert len(readings) > 20 and len(process_ids) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(process_ids[0], 0)
