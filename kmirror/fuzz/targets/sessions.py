"""Target: sessions with a broker; a frame is a session, with eight bytes as the random seed of each step.

A session is made smaller by removing bytes, and works with any broker, as its requests depend on the responses. In the
simulator each session has a broker of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

from kmirror.errors import UsageError
from kmirror.fuzz.sessions.links import Link, PortLink
from kmirror.fuzz.sessions.rows import MACHINES, MachineRow, machine_row
from kmirror.fuzz.sessions.session import RandomChoices, run_session
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.fuzz.targets.tcp import checked_address

STEP_BYTES = 8
_STEPS = (8, 16, 32, 64)


class SessionTarget(Stateless):
    """Runs sessions against a broker: the broker at `link`, or without `link` a new simulated broker for each."""

    name = "sessions"

    def __init__(self, seed: int, link: Link | None = None) -> None:
        self._seed = seed
        self._link = link
        self._count = 0
        # A broker that keeps its groups and ids may know the names of an earlier run.
        self._mark = "" if link is None else f"{os.urandom(4).hex()}-"

    def close(self) -> None:
        """Close the connections."""
        if self._link is not None:
            self._link.close()

    def judge(self, frame: Frame) -> str:
        """Run the session, and return "taken"; raises `Fault` if the machine's model forbids a response."""
        row = machine_row(frame.name)
        first, *rest = _choices(frame.data) or [_choice(b"")]
        link = self._link or row.open_simulated_link(self._seed, first)
        self._count += 1
        prefix = f"{row.name}-{self._mark}{self._count if self._link else 1}"
        try:
            session = run_session(row.machine(), link, prefix, rest)
        finally:
            if link is not self._link:
                link.close()
        return "lost" if session.is_lost else TAKEN


class SessionSource:
    """The sessions of a seed, for each machine in turn."""

    def __init__(self, seed: int, machines: tuple[MachineRow, ...]) -> None:
        self.seed = seed
        self._machines = machines

    def block(self, number: int) -> list[Frame]:
        """Return some sessions."""
        return [self._frame(number * BLOCK_FRAMES + index) for index in range(BLOCK_FRAMES)]

    def _frame(self, number: int) -> Frame:
        random = Random(f"{self.seed}/{number}/session")
        row = self._machines[number % len(self._machines)]
        return Frame(number, row.name, 0, random.randbytes(STEP_BYTES * random.choice(_STEPS)), (), is_canonical=False)

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the session with another end."""
        steps = len(parent.data) // STEP_BYTES
        kept = parent.data[: STEP_BYTES * int(random() * steps)]
        more = Random(random()).randbytes(STEP_BYTES * _STEPS[0])
        return parent._replace(data=kept + more)


def _choices(data: bytes) -> list[RandomChoices]:
    return [_choice(data[at : at + STEP_BYTES]) for at in range(0, len(data), STEP_BYTES)]


def _choice(data: bytes) -> RandomChoices:
    return RandomChoices(Random(data).random)


def open_target(options: TargetOptions) -> tuple[SessionTarget, SessionSource]:
    """Return the target, and the sessions of the selected rule machines, or of all.

    Raises `UsageError` for an unknown machine, or one that needs simulated clusters if there is a bootstrap server.
    """
    rows = tuple(machine_row(name) for name in options.machines)
    if options.bootstrap_server is None:
        return SessionTarget(options.seed), SessionSource(options.seed, rows or MACHINES)
    for row in rows:
        if not row.is_for_kafka:
            raise UsageError(f"machine {row.name} needs kmirror's own clusters: leave --bootstrap-server out")
    address = checked_address(options.bootstrap_server, owns_host=options.owns_host)
    rows = rows or tuple(row for row in MACHINES if row.is_for_kafka)
    return SessionTarget(options.seed, PortLink({"": address})), SessionSource(options.seed, rows)
