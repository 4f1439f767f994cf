"""Does our group coordinator say and write what a real broker does? The same conversation with both."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kmirror.logdir.store import LogFolder
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.interop.groups import script
from tests.interop.groups.talk import RealPeer, SimulatedPeer, Talk
from tests.interop.log.cluster import finish
from tests.interop.log.judge import Judge

MEMORY_ONLY = {"log.cleaner.dedupe.buffer.size": str(4 << 20)}


def ours() -> list[tuple[str, Any]]:
    with Cluster(Simulation(1), "a", brokers=1, configs=script.CONFIGS) as cluster:
        talk = Talk(SimulatedPeer(cluster))
        script.run(talk)
        return talk.outcomes


def theirs(class_path: str, folder: Path, give_up: Callable[[str], NoReturn]) -> list[tuple[str, Any]]:
    logs = folder / "logs"
    logs.mkdir()
    finish(LogFolder(logs), {}, now_ms=1_700_000_000_000)
    judge = Judge(class_path, folder)
    with contextlib.closing(judge):
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
            port, controller = one.getsockname()[1], two.getsockname()[1]
        where = {
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        }
        judge.start(logs, [], **where, **MEMORY_ONLY, **script.CONFIGS)
        with contextlib.closing(RealPeer("127.0.0.1", port)) as peer:
            talk = Talk(peer)
            script.run(talk)
        judge.stop()
    return talk.outcomes


def test_a_real_broker_says_and_writes_the_same(
    log_class_path: str, tmp_path: Path, give_up: Callable[[str], NoReturn]
) -> None:
    expected, found = theirs(log_class_path, tmp_path, give_up), ours()
    for wanted, said in zip(expected, found, strict=False):
        assert said == wanted
    assert len(found) == len(expected)
