"""A session: steps drawn by a machine's rules, with disorder, and each response judged by the model.

Disorder is the same for all machines: a response is read late, a request is sent twice, or again after others, two
change places, a link is cut before its response was read, or a field has the value of an earlier request.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.sessions.links import Link
from kmirror.fuzz.sessions.machine import AnyMachine, Call, Choose, Pause, Rule, Step
from kmirror.fuzz.sessions.state_set import StateSet, TooManyStates, show_values
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

T = TypeVar("T")
_DRAWS_MAX = 8
_LATE_MAX = 3
_CUTS_MAX = 3
_SETTLED_AFTER = 8
"""Number of later responses after which a request with a cut link counts as processed or lost."""
_LAST_STEPS_MAX = 200
_ONE_AT_A_TIME_FROM = 24
"""Number of possible states from which requests are sent one at a time, as each response reduces them."""
_LATE_SHARE = 0.5
_CLIENT = "session"
_VALUE_TEXT_MAX = 160


class Disorder(Enum):
    """Kind of disorder of a step."""

    NONE = "as drawn"
    LATE = "its answer is read later"
    TWICE = "sent twice"
    SWAPPED = "after the next"
    CUT = "the link is cut"
    STALE_FIELD = "with an earlier value"
    REPEATED = "an earlier request once more"


_WEIGHTS = {
    Disorder.NONE: 12,
    Disorder.LATE: 4,
    Disorder.TWICE: 1,
    Disorder.SWAPPED: 1,
    Disorder.CUT: 1,
    Disorder.STALE_FIELD: 2,
    Disorder.REPEATED: 1,
}
_DISORDERS = tuple(kind for kind, weight in _WEIGHTS.items() for _ in range(weight))


class RandomChoices:
    """Choices from numbers between 0 and 1, such as those of a `Random`."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self._random() * len(options))]

    def chance(self, share: float) -> bool:
        """Return True with probability `share`."""
        return self._random() < share


class SessionWorld:
    """The `World` of a session: its names, and requests that prepare it."""

    def __init__(self, link: Link, prefix: str) -> None:
        self.prefix = prefix
        self.moves_time = link.moves_time
        self._link = link

    def ask(self, body: Message, version: int, broker: str = "") -> Message:
        """Return the response; raises `Fault` if there is none."""
        frame = encode_request(body, version, correlation_id=0, client_id=_CLIENT)
        response = self._link.take(self._link.send(frame, broker), self._link.long_s)
        if response is None:
            raise Fault(FaultKind.SILENT, f"no answer to {body.NAME}", f"{body.NAME} before a session", "an answer")
        return decode_response(response, key_of(type(body)), version).body

    def wait_briefly(self) -> None:
        """Let a moment pass."""
        self._link.wait_briefly()


class Session:
    """A session of a machine with a broker. Raises `Fault`, with the story so far, if the model forbids a response.

    `prefix` is the prefix of all names; no other session of that broker may have it.
    """

    def __init__(self, machine: AnyMachine, link: Link, prefix: str) -> None:
        self.machine = machine
        self.story: list[str] = []
        self.is_lost = False
        """Whether too many states became possible; nothing is judged after that."""
        self._link = link
        self.known, state = machine.begin(SessionWorld(link, prefix))
        self._states: StateSet[Any] = StateSet.initial(machine, state)
        self._outstanding: dict[int, tuple[Call, int]] = {}
        """Outstanding calls, with their tickets."""
        self._late: set[int] = set()
        self._blocked: set[int] = set()
        """Outstanding calls: responses of `_late` are read later, those of `_blocked` may need other requests first."""
        self._sent_steps: list[Step] = []
        self._values: dict[str, list[Any]] = {}
        self._cut: dict[int, int] = {}
        """Calls with cut links, and the number of responses until they are settled."""
        self._count = 0
        self._cuts = 0

    # -- steps --------------------------------------------------------------------------------

    def step(self, choose: Choose) -> None:
        """Draw a step and its disorder, and run it; nothing happens if the rule has no step now."""
        self.read_late_responses(choose)
        rule = self._draw_rule(choose)
        self.run_rule(rule, choose.pick(_DISORDERS), choose)

    def _draw_rule(self, choose: Choose) -> Rule[Any]:
        return choose.pick([rule for rule in self.machine.rules for _ in range(rule.weight)])

    def run_rule(self, rule: Rule[Any], disorder: Disorder, choose: Choose) -> bool:
        """Run a step of this rule, with this disorder; return False if the rule has none now."""
        if self.is_lost:
            return False
        step = rule.draw(self.known, choose)
        try:
            if isinstance(step, Pause):
                self._pause(step)
            elif step is not None:
                self._run_step(step, disorder, choose)
        except TooManyStates:
            self.is_lost = True
        return step is not None

    def _run_step(self, step: Step, disorder: Disorder, choose: Choose) -> None:
        if self._states.count > _ONE_AT_A_TIME_FROM and disorder is not Disorder.STALE_FIELD:
            disorder = Disorder.NONE
            for number in sorted(self._late):
                self._read(number)
        match disorder:
            case Disorder.LATE:
                self._late.add(self._send(step, disorder).number)
            case Disorder.TWICE:
                for call in (self._send(step), self._send(step, disorder)):
                    self._read(call.number)
            case Disorder.SWAPPED:
                other = self._draw_other(choose)
                calls = [self._send(each, disorder) for each in (other, step) if each is not None]
                for call in calls:
                    self._read(call.number)
            case Disorder.CUT if self._cuts < _CUTS_MAX:
                self._cut_link(self._send(step, disorder), waits_first=choose.chance(0.5))
            case Disorder.STALE_FIELD:
                self._read(self._send(self._with_stale_field(step, choose), disorder).number)
            case Disorder.REPEATED if self._sent_steps:
                self._read(self._send(choose.pick(self._sent_steps), disorder).number)
            case _:
                self._read(self._send(step).number)

    def _draw_other(self, choose: Choose) -> Step | None:
        for _ in range(_DRAWS_MAX):
            found = self._draw_rule(choose).draw(self.known, choose)
            if isinstance(found, Step):
                return found
        return None

    def _with_stale_field(self, step: Step, choose: Choose) -> Step:
        """Return the step with one field set to its value in an earlier request, if there is another value."""
        defaults = type(step.body)()
        fields = [
            (name, value)
            for name in sorted(self.machine.stale_fields)
            if getattr(step.body, name, None) != getattr(defaults, name, None)
            for value in self._values.get(name, ())
            if value != getattr(step.body, name)
        ]
        if not fields:
            return step
        name, value = choose.pick(fields)
        body = copy.copy(step.body)
        setattr(body, name, value)
        return replace(step, body=body)

    def _send(self, step: Step, disorder: Disorder = Disorder.NONE) -> Call:
        self._count += 1
        call = Call(self._count, step)
        self._sent_steps.append(step)
        for name in sorted(self.machine.stale_fields):
            if hasattr(step.body, name):
                values = self._values.setdefault(name, [])
                value = getattr(step.body, name)
                if value not in values:
                    values.append(value)
        suffix = "" if disorder is Disorder.NONE else f" ({disorder.value})"
        self._add_line(f"{call.number}: {step}{suffix} {_request_text(step.body)}")
        frame = encode_request(step.body, step.version, correlation_id=call.number, client_id=_CLIENT)
        self._states.add_call(call)
        self._outstanding[call.number] = (call, self._link.send(frame, step.broker))
        return call

    def _cut_link(self, call: Call, *, waits_first: bool) -> None:
        if waits_first:
            self._link.wait_briefly()
        self._cuts += 1
        _, ticket = self._outstanding.pop(call.number)
        self._link.cut(ticket)
        self._states.lose(call.number)
        self._cut[call.number] = _SETTLED_AFTER

    def _settle(self) -> None:
        """Count a response; calls of links that were cut long ago do not take effect any more."""
        self._cut = {number: left - 1 for number, left in self._cut.items()}
        for number in [number for number, left in self._cut.items() if not left]:
            del self._cut[number]
            self._states.settle(number)

    def _pause(self, pause: Pause) -> None:
        for number in list(self._outstanding):
            self._read(number)
        self._count += 1
        self._add_line(f"{self._count}: {pause}")
        self._link.pause(pause.seconds)
        self._states.pause(Call(self._count, pause))
        self._cut.clear()

    # -- responses ----------------------------------------------------------------------------

    def read_late_responses(self, choose: Choose) -> None:
        """Read some late responses, or all if there are many, and those that had to wait."""
        if self.is_lost:
            return
        is_full = len(self._late) >= _LATE_MAX
        try:
            for number in sorted(self._late):
                if is_full or choose.chance(_LATE_SHARE):
                    self._read(number)
            self._read_blocked()
        except TooManyStates:
            self.is_lost = True

    def _read_blocked(self) -> None:
        for number in sorted(self._blocked):
            call, ticket = self._outstanding[number]
            frame = self._link.take(ticket, 0)
            if frame is not None:
                self._judge(call, frame)

    def _read(self, number: int) -> None:
        """Read a response, and judge it; postpone it if it may have to wait."""
        call, ticket = self._outstanding[number]
        self._late.discard(number)
        frame = self._link.take(ticket, self._link.short_s)
        if frame is None and not self._states.may_block(number):
            frame = self._link.take(ticket, self._link.long_s)
            if frame is None:
                assert isinstance(call.step, Step), "only a pause has no response"
                raise self._fault(FaultKind.SILENT, f"{call.step} of step {number} is not answered", call.step.name)
        if frame is None:
            self._blocked.add(number)
        else:
            self._judge(call, frame)

    def _judge(self, call: Call, frame: bytes) -> None:
        step = call.step
        assert isinstance(step, Step), "only a pause has no response"
        self._blocked.discard(call.number)
        del self._outstanding[call.number]
        try:
            response = decode_response(frame, key_of(type(step.body)), step.version).body
        except ProtocolError as error:
            text = f"the answer to {step} cannot be read: {error}"
            raise self._fault(FaultKind.REFUSED, text, f"answer of {step.name}") from None
        observed = self.machine.read(self.known, step, response)
        self._add_line(f"   {call.number} is answered: {show_values(observed, observed)}")
        mismatch = self._states.apply_response(call.number, observed)
        if mismatch is not None:
            raise self._fault(FaultKind.DIFFERS, f"{step}: {mismatch.text}", f"{step.name}: {mismatch.cause}")
        self.machine.learn(self.known, step, response)
        self._settle()

    # -- the end ------------------------------------------------------------------------------

    def end(self) -> None:
        """Read all outstanding responses, and run the machine's last steps."""
        try:
            self._end()
        except TooManyStates:
            self.is_lost = True
        for _, ticket in self._outstanding.values():
            self._link.cut(ticket)
        self._outstanding.clear()

    def _end(self) -> None:
        if self.is_lost:
            return
        for number in sorted(self._outstanding):
            if number in self._outstanding:
                self._read(number)
        for count, step in enumerate(self.machine.last_steps(self.known)):
            assert count < _LAST_STEPS_MAX, f"the machine {self.machine.name} does not end"
            if isinstance(step, Pause):
                self._pause(step)
                continue
            self._link.wait_briefly()
            self._read(self._send(step).number)

    # -- reports ------------------------------------------------------------------------------

    def _add_line(self, line: str) -> None:
        self.story.append(line)

    def _fault(self, kind: FaultKind, text: str, cause: str) -> Fault:
        expected = f"an answer that the model of {self.machine.name} allows"
        return Fault(kind, text, f"{self.machine.name}: {cause}", expected, self.story)


def run_session(machine: AnyMachine, link: Link, prefix: str, choices: Iterable[Choose]) -> Session:
    """Run a session with one step for each of the choices, and return it; raises `Fault`."""
    session = Session(machine, link, prefix)
    for choose in choices:
        session.step(choose)
    session.end()
    return session


def _request_text(body: Message) -> str:
    """Return the fields of a request without default values, for a story."""
    defaults = type(body)()
    values = ((field.attribute, getattr(body, field.attribute)) for field in body.FIELDS)
    return ", ".join(f"{name}={_shortened(value)}" for name, value in values if value != getattr(defaults, name, None))


def _shortened(value: object) -> str:
    text = repr(bytes(value) if isinstance(value, memoryview) else value)
    return text if len(text) <= _VALUE_TEXT_MAX else f"{text[:_VALUE_TEXT_MAX]}..."
