"""Cost of an idle cluster: its long polls continue, without encoding or decoding the same fetch again."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.message import Message
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation


def count_calls(monkeypatch: pytest.MonkeyPatch, cls: type[Message], name: str) -> list[None]:
    """Return a list that receives one entry for each call of a method from now on."""
    calls: list[None] = []
    method = getattr(Message, name).__func__ if name == "decode_prefix" else getattr(Message, name)

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(None)
        return method(*args, **kwargs)

    monkeypatch.setattr(cls, name, classmethod(counting) if name == "decode_prefix" else counting)
    return calls


def test_a_poll_without_changes_is_neither_encoded_nor_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(seed=3)
    with Cluster(simulation, "a", brokers=3) as a:
        a.create_topic("orders", 4)
        simulation.run_for(span_s=5)
        work = [
            count_calls(monkeypatch, cls, name)
            for cls in (FetchRequest, FetchResponse)
            for name in ("encode_chunks", "decode_prefix")
        ]
        lines = simulation.world.trace.count
        simulation.run_for(span_s=10)
        assert simulation.world.trace.count - lines > 400, "the brokers stay in touch"
        assert [len(calls) for calls in work] == [0, 0, 0, 0]
        a.produce("orders", 0, [b"news"])
        assert any(work), "what has news is encoded"
