"""Fakes for observers of frames and nodes: a scene with a plan's clients, and rules that record violations."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from kmirror.histories.account import Account
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.message import Message
from kmirror.spec.api_keys import API_KEYS

TP = TopicPartition("t0", 0)


class FakeScene(SimpleNamespace):
    """One cluster `a`, and clients by name and kind."""

    def __init__(self, clients: Mapping[str, str] | None = None, steps: tuple[Step, ...] = ()) -> None:
        rows = [ClientPlan(name, kind, "a", ("t0",), 100) for name, kind in (clients or {}).items()]
        processes = {name: SimpleNamespace(is_server=True, site=name[0]) for name in ("a-1", "a-2", "b-1")}
        super().__init__(
            plan=Plan(1, "by hand", (ClusterPlan("a", 2, 2),), {}, tuple(rows), steps, 1, 1, {}),
            account=Account(),
            simulation=SimpleNamespace(world=SimpleNamespace(now=0, processes=processes)),
            clusters={},
            now=0,
            notes=[],
            topics={},
        )

    def image(self, cluster: str) -> Any:
        """Return an image with the scene's topics, initially none."""
        return SimpleNamespace(topics=self.topics)

    def note(self, text: str) -> None:
        """Record a line of the story."""
        self.notes.append(text)


def rules_of(scene: FakeScene) -> Rules:
    """Return rules that write into the scene's account."""
    return Rules(scene)  # type: ignore[arg-type]


def broken_rules(scene: FakeScene) -> list[str]:
    """Return the names of the broken rules, each once."""
    return list(dict.fromkeys(rule for _, _, rule in scene.account.broken_rules))


class Link(SimpleNamespace):
    """A link between a client and a broker of cluster a."""

    def __init__(self, client: str, server: str = "a-1") -> None:
        super().__init__(client=client, server=server, open=True)


def ask(monitor: FrameMonitor, link: Link, body: Message, *, version: int, at: int = 0) -> PendingRequest:
    """Deliver a request to the observer."""
    assert body.API_KEY in {API_KEYS[api] for api in monitor.APIS}
    broker_id = int(link.server.rpartition("-")[2])
    pending = PendingRequest("a", broker_id, link, body.API_KEY, version, body, at)  # type: ignore[arg-type]
    monitor.on_request(pending)
    return pending


def answer(monitor: FrameMonitor, pending: PendingRequest, body: Message, *, arrives: bool = True) -> None:
    """Deliver the response to it."""
    pending.answer = body
    monitor.on_response_sent(pending)
    if arrives:
        monitor.on_response_received(pending)
