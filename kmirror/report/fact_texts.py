"""Texts of the facts of a run."""

from __future__ import annotations

from kmirror.report.periods import answer_text, order_text
from kmirror.sim.facts import (
    BrokerFenced,
    BrokerUnfenced,
    LineChanged,
    LineDown,
    LineUp,
    LogCut,
    NodeKilled,
    NodeStarted,
    NodeStopped,
    OrderAnswered,
    OrderSent,
    PowerLost,
    ProducersReset,
    ReasonChanged,
    StateEntered,
)


def fact_text(fact: object) -> str:
    """Return the text of a fact, without its time and node; a fact of an unknown kind as `str` shows it."""
    match fact:
        case NodeStarted():
            return "started"
        case NodeKilled():
            return "killed"
        case NodeStopped():
            return "stopped"
        case LineDown(line):
            return f"line {line} down"
        case LineUp(line):
            return f"line {line} up"
        case LineChanged(line, settings=settings):
            return f"line {line} set: {settings}"
        case PowerLost(lost_bytes):
            return f"lost power, with {lost_bytes} bytes that were not flushed"
        case BrokerFenced(broker_id, reason):
            return f"broker {broker_id} fenced: {reason}"
        case BrokerUnfenced(broker_id):
            return f"broker {broker_id} unfenced"
        case StateEntered(tp, mirror, state, epoch):
            return f"{tp} in mirror {mirror}: {state.name}, last mirrored epoch {epoch}"
        case ReasonChanged(tp, reason=reason):
            return f"{tp} waits: {reason}" if reason else f"{tp} no longer waits"
        case LogCut(tp, offset, end, reason):
            return f"{tp} cut, offsets {offset}-{end - 1}: {reason}"
        case ProducersReset(tp, offset, leader_epoch):
            return f"{tp}: MIRROR_PID_RESET at offset {offset}, leader epoch {leader_epoch}"
        case OrderSent(number, request):
            return f"order {number}: {order_text(request)}"
        case OrderAnswered(number, answer):
            return f"order {number} answered: {answer_text(answer)}"
    return str(fact)
