"""Checker of topic configs that move back at a destination: an older value of the source follows a newer one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kmirror.histories.account import ConfigsSeen
from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.words import Finding, clock
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

UNSET = "(not set)"


@dataclass(frozen=True, slots=True)
class Held:
    """Value of a topic's config in [begin, end)."""

    value: str
    begin: Instant
    end: Instant


def config_regression(facts: Facts) -> Iterator[Finding]:
    """A mirrored topic returns to a config value that its source had replaced before a newer value was mirrored."""
    for cluster, topic in dict.fromkeys((row.cluster, row.topic) for row in facts.account.topic_configs):
        for stay in facts.stays((cluster, TopicPartition(topic, 0))):
            if (
                stay.source
                and not _is_shared(facts, stay)
                and not facts.was_created_or_deleted(stay.source, topic, stay.began)
            ):
                yield from _moved_back(facts, stay)


def _is_shared(facts: Facts, stay: MirrorSession) -> bool:
    """Return whether the mirror was pointed from one cluster to another, or the topic was deleted here."""
    place = (stay.destination, stay.tp)
    others = [other for other in facts.stays(place) if other.began == stay.began]
    return len(others) > 1 or facts.was_deleted(place, stay.began)


def _moved_back(facts: Facts, stay: MirrorSession) -> Iterator[Finding]:
    topic = stay.tp.topic
    here, there = _seen(facts, stay.destination, topic), _seen(facts, stay.source, topic)
    names = dict.fromkeys(name for row in here for name in row.configs if not name.startswith("mirror."))
    for name in names:
        held, known = _timeline(there, name), stay.began
        for before, row in pairwise(here):
            value = row.configs.get(name, UNSET)
            if value == before.configs.get(name, UNSET) or not stay.began <= row.at <= stay.removed:
                continue
            if facts.was_deleted((stay.destination, stay.tp), before.at, row.at):
                continue  # It was created again, with the configs of the source.
            if _was_ordered(facts, stay.destination, topic, name, value, row.at):
                continue
            spans = [span for span in held if span.value == value and span.begin <= row.at]
            later = [span for span in spans if span.end > known]
            if spans and not later:
                text = (
                    f"{name} of topic {topic} becomes {value} again at {clock(row.at)}: {stay.source} last had it at "
                    f"{clock(spans[-1].end)}, and a later value was already mirrored"
                )
                yield Anomaly("config-regression", stay.destination, None, -1, text, row.at)
                break
            if later:
                known = max(known, later[0].begin)


def _seen(facts: Facts, cluster: str, topic: str) -> list[ConfigsSeen]:
    return [row for row in facts.account.topic_configs if (row.cluster, row.topic) == (cluster, topic)]


def _timeline(rows: list[ConfigsSeen], name: str) -> list[Held]:
    """Return the values of the config in order of time."""
    found: list[Held] = []
    for row in rows:
        value = row.configs.get(name, UNSET)
        if found and found[-1].value == value:
            continue
        if found:
            found[-1] = Held(found[-1].value, found[-1].begin, row.at)
        found.append(Held(value, row.at, NEVER))
    return found


def _was_ordered(facts: Facts, cluster: str, topic: str, name: str, value: str, at: Instant) -> bool:
    """Return whether an operator may have set the config to this value here at this moment."""
    for order in facts.orders("alter_topic", "reset_topic"):
        args: Mapping[str, object] = facts.plan.steps[order.number].args
        if order.destination == cluster and topic in order.topics and args.get("name") == name:
            ordered = str(args.get("value", UNSET))
            if ordered == value and order.sent_at <= at and (order.answered_at < 0 or at <= order.answered_at):
                return True
    return False
