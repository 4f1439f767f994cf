"""Hypothesis state machines that test sessions with a broker: Hypothesis draws the steps and shrinks failures.

Groups = kmirror.testing.machines.state_machine("groups", bootstrap_server="localhost:9092")
TestGroups = Groups.TestCase        # collected by pytest and unittest
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from kmirror.errors import UsageError
from kmirror.fuzz.findings import Fault
from kmirror.fuzz.sessions.links import Link, PortLink
from kmirror.fuzz.sessions.machine import Rule
from kmirror.fuzz.sessions.rows import MachineRow, machine_row
from kmirror.fuzz.sessions.session import Disorder, Session
from kmirror.fuzz.targets.tcp import checked_address

T = TypeVar("T")


class _HypothesisChoices:
    """Choices drawn, and simplified, by Hypothesis."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def pick(self, options: Sequence[T]) -> T:
        return self._data.draw(st.sampled_from(options))

    def chance(self, share: float) -> bool:
        return self._data.draw(st.floats(0, 1, exclude_max=True)) >= 1 - share


class SessionMachine(RuleBasedStateMachine):
    """A session; `state_machine` creates a subclass with the rules of a machine."""

    row: MachineRow
    address: tuple[str, int] | None

    def __init__(self) -> None:
        super().__init__()
        self._link: Link | None = None
        self._session: Session | None = None

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Start a session with names that are new to the broker."""
        self._link = (
            self.row.open_simulated_link(0, _HypothesisChoices(data))
            if self.address is None
            else PortLink({"": self.address})
        )
        suffix = "1" if self.address is None else uuid.uuid4().hex[:8]
        self._session = Session(self.row.machine(), self._link, f"{self.row.name}-{suffix}")

    def do_step(self, machine_rule: Rule[Any], data: st.DataObject) -> None:
        """Do one step of a rule, if the rule has one now."""
        assert self._session is not None, "it has begun"
        choices = _HypothesisChoices(data)
        self._session.read_late_responses(choices)
        self._with_story(lambda: self._run_rule(machine_rule, choices))

    def _run_rule(self, machine_rule: Rule[Any], choices: _HypothesisChoices) -> None:
        assert self._session is not None, "it has begun"
        self._session.run_rule(machine_rule, choices.pick(list(Disorder)), choices)

    def teardown(self) -> None:
        """End the session: read and check the remaining responses."""
        try:
            if self._session is not None:
                self._with_story(self._session.end)
        finally:
            if self._link is not None:
                self._link.close()

    def _with_story(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Fault as fault:
            assert self._session is not None, "it has begun"
            self._session.is_lost = True
            for line in fault.story:
                fault.add_note(line)
            raise


def _step(machine_rule: Rule[Any]) -> Any:
    def step(self: SessionMachine, data: st.DataObject) -> None:
        self.do_step(machine_rule, data)

    step.__name__ = machine_rule.name.replace(" ", "_")
    return rule(data=st.data())(step)


def state_machine(name: str, *, bootstrap_server: str | None = None, own_host: bool = False) -> type[SessionMachine]:
    """Return a `RuleBasedStateMachine` for sessions of the machine `name`, such as "groups" or "transactions".

    The broker is a new simulated one for each example, or the only broker of the cluster at `bootstrap_server`. A
    result that the machine's model does not allow raises `kmirror.fuzz.findings.Fault`, with the session's steps as
    notes. Raises UsageError for an unknown machine, and for a host that is not loopback unless `own_host` is set.
    """
    row = machine_row(name)
    address = None if bootstrap_server is None else checked_address(bootstrap_server, owns_host=own_host)
    if address is not None and not row.is_for_kafka:
        raise UsageError(f"machine {name} needs kmirror's own brokers: leave bootstrap_server out")
    rules = {each.name.replace(" ", "_"): _step(each) for each in row.machine().rules}
    return type(f"{name.title()}Sessions", (SessionMachine,), {"row": row, "address": address, **rules})
