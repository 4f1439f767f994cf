"""Periods in a run, such as outages, waits and orders, derived from the facts that begin and end them.

Every period begins and ends with a typed fact of the run, or with the run itself; nothing is read from a trace.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kmirror.client.admin import error_of
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.message import Message
from kmirror.sim.facts import (
    BrokerFenced,
    BrokerUnfenced,
    LineChanged,
    LineDown,
    LineUp,
    NodeKilled,
    NodeStarted,
    NodeStopped,
    OrderAnswered,
    OrderSent,
    ReasonChanged,
    Seen,
    StateEntered,
)
from kmirror.sim.network import LineSettings
from kmirror.spec.error_codes import ErrorCode

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Period(Generic[K]):
    """A period, in milliseconds since the run began."""

    subject: K
    """Its subject."""
    begin_ms: int
    end_ms: int
    text: str
    """Its begin, and its end if it has one."""
    is_over: bool = True


@dataclass(slots=True)
class _OpenPeriods(Generic[K]):
    """Periods of one kind, at most one of each subject at a time."""

    ended: list[Period[K]] = field(default_factory=list)
    open_by_subject: dict[K, tuple[int, str]] = field(default_factory=dict)

    def begin(self, subject: K, at_ms: int, text: str) -> None:
        self.open_by_subject.setdefault(subject, (at_ms, text))

    def end(self, subject: K, at_ms: int, ending: str = "") -> None:
        opened = self.open_by_subject.pop(subject, None)
        if opened is not None:
            self.ended.append(Period(subject, opened[0], at_ms, f"{opened[1]}{ending}"))

    def all_until(self, end_ms: int) -> list[Period[K]]:
        """Return all periods in order of their begin; open ones last until the end of the run."""
        unfinished = [
            Period(subject, at_ms, end_ms, text, is_over=False)
            for subject, (at_ms, text) in self.open_by_subject.items()
        ]
        return sorted([*self.ended, *unfinished], key=lambda period: period.begin_ms)


ClusterPartition = tuple[str, TopicPartition]
"""A partition of a cluster."""


@dataclass(frozen=True, slots=True)
class Periods:
    """All periods of a run."""

    down: list[Period[str]]
    """Nodes that did not run."""
    killed_not_fenced: list[Period[str]]
    """Brokers that were killed and not fenced yet, started again or not: other nodes wait for them."""
    fenced: list[Period[str]]
    lines_down: list[Period[str]]
    lines_set: list[Period[str]]
    """Lines with other properties than those that they were created with."""
    waits: list[Period[ClusterPartition]]
    """Partitions whose leader had a reason to wait."""
    orders: list[Period[tuple[str, int]]]


def periods_of(facts: Iterable[Seen[object]], end_ms: int) -> Periods:
    """Return the periods of a run with these facts that ended at `end_ms`."""
    down, killed_not_fenced, fenced = _OpenPeriods[str](), _OpenPeriods[str](), _OpenPeriods[str]()
    lines_down, lines_set = _OpenPeriods[tuple[str, str]](), _OpenPeriods[tuple[str, str]]()
    settings_by_line: dict[tuple[str, str], LineSettings] = {}
    waits, orders = _OpenPeriods[ClusterPartition](), _OpenPeriods[tuple[str, int]]()
    for seen in facts:
        at = seen.at_ms
        match seen.fact:
            case NodeKilled():
                down.begin(seen.node, at, f"{seen.node} was killed at {seconds(at)}")
                if _is_broker(seen) and seen.node not in fenced.open_by_subject:
                    killed_not_fenced.begin(seen.node, at, f"{seen.node}, killed at {seconds(at)}, counts as alive")
            case NodeStopped():
                down.begin(seen.node, at, f"{seen.node} stopped at {seconds(at)}")
            case NodeStarted():
                down.end(seen.node, at, f", started at {seconds(at)}")
            case BrokerFenced(broker_id, reason):
                node = f"{seen.cluster}-{broker_id}"
                killed_not_fenced.end(node, at, f" until {seconds(at)}: {reason}")
                fenced.begin(node, at, f"{node} is fenced from {seconds(at)}: {reason}")
            case BrokerUnfenced(broker_id):
                node = f"{seen.cluster}-{broker_id}"
                killed_not_fenced.end(node, at, f" until {seconds(at)}, when it is back")
                fenced.end(node, at, f"; unfenced at {seconds(at)}")
            case LineDown(directions=directions):
                for ends in directions:
                    lines_down.begin(ends, at, f"down from {seconds(at)}")
            case LineUp(directions=directions):
                for ends in directions:
                    lines_down.end(ends, at, f" to {seconds(at)}")
            case LineChanged(directions=directions, settings=settings):
                for ends in directions:
                    lines_set.end(ends, at, f" until {seconds(at)}")
                    if settings.given():
                        settings_by_line[ends] = settings_by_line.get(ends, LineSettings()).changed(settings)
                        lines_set.begin(ends, at, f"{settings_by_line[ends]} from {seconds(at)}")
                    else:
                        settings_by_line.pop(ends, None)
            case StateEntered(tp):
                waits.end((seen.cluster, tp), at)
            case ReasonChanged(tp, reason=reason):
                waits.end((seen.cluster, tp), at)
                if reason:
                    waits.begin((seen.cluster, tp), at, reason)
            case OrderSent(number, request):
                orders.begin((seen.node, number), at, order_text(request))
            case OrderAnswered(number, answer):
                orders.end((seen.node, number), at, f": {answer_text(answer)}")
    return Periods(
        down.all_until(end_ms),
        killed_not_fenced.all_until(end_ms),
        fenced.all_until(end_ms),
        _join_directions(lines_down.all_until(end_ms)),
        _join_directions(lines_set.all_until(end_ms)),
        waits.all_until(end_ms),
        orders.all_until(end_ms),
    )


def _is_broker(seen: Seen[object]) -> bool:
    """Return whether the fact is about a broker: a controller has no session that could outlast it."""
    return seen.node.removeprefix(f"{seen.cluster}-").isdecimal()


def _join_directions(rows: list[Period[tuple[str, str]]]) -> list[Period[str]]:
    """Return the periods by names of lines: `a|b` if both directions have the same one, else `a>b`."""
    rows_without_name = {(row.subject, row.begin_ms, row.end_ms, row.text) for row in rows}
    joined = []
    for row in rows:
        sender, receiver = row.subject
        is_both = ((receiver, sender), row.begin_ms, row.end_ms, row.text) in rows_without_name
        if is_both and sender > receiver:
            continue  # The row of the other direction covers both.
        name = f"{sender}{'|' if is_both else '>'}{receiver}"
        joined.append(Period(name, row.begin_ms, row.end_ms, f"line {name}: {row.text}", row.is_over))
    return joined


def seconds(at_ms: int) -> str:
    """Return a time of the run as text."""
    return f"{at_ms / 1000:.3f} s"


def order_text(request: Message) -> str:
    """Return the text of an order: its kind, mirror and topics."""
    name = request.NAME.removesuffix("Request")
    match request:
        case CreateMirrorRequest():
            return f"{name} {request.mirror_name}"
        case AddTopicsToMirrorRequest() | RemoveTopicsFromMirrorRequest():
            return f"{name} {request.mirror_name}: {_names_text(row.topic_name for row in request.topics)}"
        case CreateTopicsRequest():
            return f"{name} {_names_text(row.name for row in request.topics)}"
    return name


def answer_text(answer: Message | ErrorCode) -> str:
    """Return the name of the error in a response, or of the error instead of one; `NONE` if there is none."""
    return (answer if isinstance(answer, ErrorCode) else error_of(answer)).name


NAMES_MAX = 6


def _names_text(names: Iterable[str | None]) -> str:
    found = [str(name) for name in names]
    more = f" and {len(found) - NAMES_MAX} more" if len(found) > NAMES_MAX else ""
    return ", ".join(found[:NAMES_MAX]) + more


def overlapping(rows: Iterable[Period[K]], begin_ms: int, end_ms: int) -> list[Period[K]]:
    """Return the periods that overlap [begin_ms, end_ms)."""
    return [row for row in rows if row.begin_ms < end_ms and begin_ms < row.end_ms]
