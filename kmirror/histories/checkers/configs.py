"""Checker of topic configs that move back at a destination: an older value of the source follows a newer one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kmirror.histories.account import TopicConfigs
from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

UNSET = "(not set)"


@dataclass(frozen=True, slots=True)
class ConfigSpan:
    """Value of a topic's config in [begin, end)."""

    value: str
    begin: Instant
    end: Instant


def config_regression(facts: Facts) -> Iterator[Finding]:
    """A mirrored topic returns to a config value that its source had replaced before a newer value was mirrored."""
    for cluster, topic in dict.fromkeys((row.cluster, row.topic) for row in facts.account.topic_configs):
        for session in facts.sessions((cluster, TopicPartition(topic, 0))):
            if (
                session.source
                and not _is_shared(facts, session)
                and not facts.was_created_or_deleted(session.source, topic, session.began_at)
            ):
                yield from _regressions(facts, session)


def _is_shared(facts: Facts, session: MirrorSession) -> bool:
    """Return whether the mirror was pointed from one cluster to another, or the topic was deleted here."""
    place = (session.destination, session.tp)
    others = [other for other in facts.sessions(place) if other.began_at == session.began_at]
    return len(others) > 1 or facts.was_deleted(place, session.began_at)


def _regressions(facts: Facts, session: MirrorSession) -> Iterator[Finding]:
    topic = session.tp.topic
    destination_rows, source_rows = (
        _topic_configs(facts, session.destination, topic),
        _topic_configs(facts, session.source, topic),
    )
    names = dict.fromkeys(name for row in destination_rows for name in row.configs if not name.startswith("mirror."))
    for name in names:
        source_spans, known = _timeline(source_rows, name), session.began_at
        for before, row in pairwise(destination_rows):
            value = row.configs.get(name, UNSET)
            if value == before.configs.get(name, UNSET) or not session.began_at <= row.at <= session.removed_at:
                continue
            if facts.was_deleted((session.destination, session.tp), before.at, row.at):
                continue  # It was created again, with the configs of the source.
            if _was_ordered(facts, session.destination, topic, name, value, row.at):
                continue
            spans = [span for span in source_spans if span.value == value and span.begin <= row.at]
            later = [span for span in spans if span.end > known]
            if spans and not later:
                text = (
                    f"{name} of topic {topic} becomes {value} again at {seconds(row.at)}: {session.source} last had "
                    f"it at "
                    f"{seconds(spans[-1].end)}, and a later value was already mirrored"
                )
                yield Anomaly("config-regression", session.destination, None, -1, text, row.at)
                break
            if later:
                known = max(known, later[0].begin)


def _topic_configs(facts: Facts, cluster: str, topic: str) -> list[TopicConfigs]:
    return [row for row in facts.account.topic_configs if (row.cluster, row.topic) == (cluster, topic)]


def _timeline(rows: list[TopicConfigs], name: str) -> list[ConfigSpan]:
    """Return the values of the config in order of time."""
    found: list[ConfigSpan] = []
    for row in rows:
        value = row.configs.get(name, UNSET)
        if found and found[-1].value == value:
            continue
        if found:
            found[-1] = ConfigSpan(found[-1].value, found[-1].begin, row.at)
        found.append(ConfigSpan(value, row.at, NEVER))
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
