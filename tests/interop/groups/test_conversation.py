"""kmirror's group coordinator sends and writes the same as Kafka's: the same conversation with both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kmirror.logdir.store import LogFolder
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.interop.groups import offset_script, script
from tests.interop.groups.talk import RealPeer, SimulatedPeer, Talk
from tests.interop.log.cluster import finish
from tests.interop.log.judge import Judge


class Conversation(NamedTuple):
    """A conversation, and the configs of its broker."""

    run: Callable[[Talk], None]
    configs: dict[str, str]


MEMBERS = Conversation(script.run, script.CONFIGS)
OFFSETS = Conversation(offset_script.run, offset_script.CONFIGS)
EXPIRY = Conversation(offset_script.expiry, offset_script.EXPIRY_CONFIGS)


def ours(what: Conversation) -> list[tuple[str, Any]]:
    with Cluster(Simulation(1), "a", brokers=1, configs=what.configs) as cluster:
        talk = Talk(SimulatedPeer(cluster))
        what.run(talk)
        return talk.outcomes


def theirs(what: Conversation, class_path: str, folder: Path) -> list[tuple[str, Any]]:
    logs = folder / "logs"
    logs.mkdir()
    finish(LogFolder(logs), {}, now_ms=1_700_000_000_000)
    judge = Judge(class_path, folder)
    with contextlib.closing(judge):
        server = judge.start(logs, [], **what.configs)
        with contextlib.closing(RealPeer(server)) as peer:
            talk = Talk(peer)
            what.run(talk)
        judge.stop()
    return talk.outcomes


@pytest.mark.parametrize("what", [MEMBERS, OFFSETS, EXPIRY], ids=["members", "offsets", "expiry"])
def test_kafka_responds_and_writes_the_same(what: Conversation, log_class_path: str, tmp_path: Path) -> None:
    expected, found = theirs(what, log_class_path, tmp_path), ours(what)
    for wanted, said in zip(expected, found, strict=False):
        assert said == wanted
    assert len(found) == len(expected)
