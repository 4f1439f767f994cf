"""Text report of a failed history about the partition in question; lines of at most 80 columns.

the anomaly by name, with its cluster, partition and offset
the setting: clusters, topics and clients
the story: numbered orders with results, faults, elections, states and cuts, and the fate of the record in question;
  other partitions are left out
the logs side by side at the offset in question (diagram.py)
one line that runs it again
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from kmirror.histories.account import Account, ReceivedRecord
from kmirror.histories.diagram import side_by_side
from kmirror.histories.plan import Plan
from kmirror.histories.shrink import first_anomaly
from kmirror.histories.verdict import Accepted, Anomaly, Exit, Outcome
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.spec.features import EPOCH_BUMPS_FROM

WIDTH = 80
LINES_MAX = 120
"""Most lines of a story; the middle of a longer one is left out."""
OTHERS_MAX = 8
STEP = re.compile(r"(?:step|order) (\d+)\b")
"""Matches a line about a step of the plan: the first one describes the step, later ones its result."""
ALIKE_MIN = 4
NUMBER = re.compile(r"\d+")
FOUND = "***"
"""Marks the line of the anomaly, where other lines have a number."""


_Line = tuple[int, Instant, str]
"""Number, time and text."""


def tell(outcome: Outcome, again: str) -> str:
    """Return the full report of a failed history, or the last line of a clean one; `again` is the command that repeats
    it.
    """
    anomaly = first_anomaly(outcome)
    parts = [headline(outcome)]
    if outcome.account.crash:
        parts.append("\n".join(textwrap.indent(outcome.account.crash.rstrip(), "  ").splitlines()[-30:]))
    if outcome.exit is not Exit.CLEAN:
        parts.append("\n".join(["The setting", *setting(outcome.plan)]))
        parts.append("\n".join(["What happened", *numbered(story(outcome, anomaly))]))
    if anomaly is not None and anomaly.tp is not None:
        parts.append("\n".join(side_by_side(outcome.account, anomaly.tp, anomaly.offset, anomaly.at)))
    others = [row for row in outcome.anomalies if row is not anomaly]
    if others:
        parts.append("\n".join(["Other findings", *_others(others)]))
    if outcome.accepted:
        parts.append("\n".join(["Accepted", *accepted_lines(outcome.accepted)]))
    parts.append(f"{measure(outcome)}\nagain: {again}")
    return "\n\n".join(parts)


def headline(outcome: Outcome) -> str:
    """Return the finding's name and its sentence."""
    anomaly = first_anomaly(outcome)
    if outcome.account.crash:
        last = outcome.account.crash.rstrip().splitlines()[-1]
        return _wrapped(f"CRASH inside a node: {last}")
    if anomaly is None:
        return f"clean: seed {outcome.plan.seed}, profile {outcome.plan.profile}"
    return _wrapped(f"{where(anomaly)}\n{anomaly.text}")


def where(anomaly: Anomaly) -> str:
    """Return checker and place of an anomaly, such as `acked-lost: orders-0 of b, offset 17`."""
    place = f"{anomaly.tp} of {anomaly.cluster}" if anomaly.tp is not None else anomaly.cluster
    offset = f", offset {anomaly.offset}" if anomaly.offset >= 0 else ""
    return f"{anomaly.checker}: {place}{offset}"


def measure(outcome: Outcome) -> str:
    """Return the size of the history and its digest."""
    plan, account = outcome.plan, outcome.account
    return (
        f"seed {plan.seed}, profile {plan.profile}: {_many(len(plan.steps), 'step')}, "
        f"{_many(len(plan.clients), 'client')}, {_many(len(account.acks), 'record')} acknowledged,\n"
        f"{counted(outcome.events, 'event')} in {outcome.virtual_seconds:.1f} virtual seconds\ndigest {outcome.digest}"
    )


def setting(plan: Plan) -> list[str]:
    """Return the state before the first step: clusters, topics, clients."""
    lines = []
    for row in plan.clusters:
        configs = "".join(f", {name}={value}" for name, value in row.configs.items())
        version = "" if row.mirror_version else ", mirror.version 0"
        version += f", imitates {row.release}" if row.release else ""
        if row.transaction_version < EPOCH_BUMPS_FROM:
            version += f", transaction.version {row.transaction_version}"
        if row.eligible_version:
            version += f", eligible.leader.replicas.version {row.eligible_version}"
        factor = f"replication factor {row.replication_factor}"
        lines.append(f"{row.name}: {_many(row.brokers, 'broker')}, {factor}{configs}{version}")
    for topic, text_lines in plan.topics.items():
        lines.append(
            f"{topic}: {_many(int(text_lines.partition('@')[0]), 'partition')} on {text_lines.partition('@')[2]}"
        )
    for client in plan.clients:
        options = "".join(f", {name}={value}" for name, value in client.options.items())
        lines.append(f"{client.name}: {client.kind} on {client.cluster}, {', '.join(client.topics)}{options}")
    return [part for line in lines for part in _hanging(line)]


def accepted_lines(rows: Iterable[Accepted]) -> list[str]:
    """Return one line for each decision that accepts losses, with the number of records."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.decision] = counts.get(row.decision, 0) + row.records
    return [f"  {decision}: {_many(records, 'record')}" for decision, records in counts.items()]


def story(outcome: Outcome, anomaly: Anomaly | None) -> list[tuple[Instant, str]]:
    """Return the lines about the anomaly's partition in order of time; `FOUND` marks the anomaly."""
    if anomaly is None:
        return list(outcome.story)
    lines = list(outcome.story)
    if anomaly.tp is not None:
        partition_filter = _PartitionFilter(outcome, anomaly.tp)
        lines = [line for line in lines if partition_filter.accepts(line[1])]
        lines = sorted([*lines, *_record_lines(outcome.account, anomaly.tp, anomaly.offset)], key=lambda line: line[0])
    found = (anomaly.at, f"{FOUND} {where(anomaly)}")
    if anomaly.at < 0:
        return [*lines, (lines[-1][0] if lines else 0, found[1])]
    return sorted([*lines, found], key=lambda line: line[0])


def _record_lines(account: Account, tp: TopicPartition, offset: int) -> list[tuple[Instant, str]]:
    """Return when each record at this offset was acknowledged, and when a consumer first received it."""
    logs = [*account.logs, *(seen for (_, other), seen in account.final_logs.items() if other == tp)]
    values = dict.fromkeys(row.value for seen in logs if seen.tp == tp for row in seen.rows if row.offset == offset)
    lines = [
        (ack.at, f"{ack.cluster}-{ack.broker} acknowledges {ack.value} at offset {ack.offset} of {tp}")
        for ack in account.acks
        if ack.tp == tp and (ack.value in values or ack.offset == offset)
    ]
    first: dict[tuple[str, str], ReceivedRecord] = {}
    for read in account.reads:
        if read.tp == tp and read.offset == offset:
            first.setdefault((read.cluster, read.value), read)
    for read in first.values():
        lines.append((read.at, f"{read.client} reads {read.value} at offset {offset} of {tp} from {read.cluster}"))
    return lines


class _PartitionFilter:
    """Filter that keeps lines about one partition, or about no partition."""

    def __init__(self, outcome: Outcome, tp: TopicPartition) -> None:
        partitions = dict.fromkeys(
            [
                *(key[1] for key in outcome.account.final_logs),
                *(row.tp for row in outcome.account.states),
                *(row.tp for row in outcome.account.elections),
            ]
        )
        topics = dict.fromkeys(
            [
                *(other.topic for other in partitions),
                *outcome.plan.topics,
                *(topic for client in outcome.plan.clients for topic in client.topics),
            ]
        )
        self._mine = _words([str(tp), tp.topic])
        self._others = _words(
            [*(str(other) for other in partitions if other != tp), *(name for name in topics if name != tp.topic)]
        )
        self._steps: dict[str, bool] = {}

    def accepts(self, text: str) -> bool:
        """Return whether a line is about the partition or about none; later lines of a step follow its first line."""
        step = STEP.match(text)
        if step is None:
            return self._is_named(text)
        return self._steps.setdefault(step[1], self._is_named(text))

    def _is_named(self, text: str) -> bool:
        return self._mine.search(text) is not None or self._others.search(text) is None


def _words(names: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of these names as a whole name, not as a part of a longer one."""
    if not names:
        return re.compile(r"(?!)")
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, longest_first))})(?!\w|-\w|\.\w)")


def numbered(lines: Sequence[tuple[Instant, str]]) -> list[str]:
    """Return the lines of a story with numbers and seconds, wrapped.

    Lines after the anomaly are left out, and so is the middle of a long story and of a series of lines that differ only
    in numbers; a line gives the count of those left out.
    """
    end = next((place for place, (_, text) in enumerate(lines, start=1) if text.startswith(FOUND)), len(lines))
    text_lines = _folded([(number, at, text) for number, (at, text) in enumerate(lines[:end], start=1)])
    if len(text_lines) > LINES_MAX:
        middle = len(text_lines) - LINES_MAX
        text_lines[LINES_MAX // 2 : LINES_MAX // 2 + middle] = [
            f"... {counted(middle, 'line')} left out; --html shows all"
        ]
    shown: list[str] = []
    for row in text_lines:
        if isinstance(row, str):
            shown.append(f"      {row}")
            continue
        number, at, text = row
        prefix = f"{FOUND if text.startswith(FOUND) else f'{number}.':>5} {at / SECOND:8.3f} s  "
        shown += textwrap.wrap(
            text.removeprefix(FOUND).strip(), WIDTH, initial_indent=prefix, subsequent_indent=" " * len(prefix),
            break_on_hyphens=False,
        )  # fmt: skip
    if end < len(lines):
        shown.append(f"      ... and {_many(len(lines) - end, 'line')} after it; --html shows all")
    return shown


def _folded(lines: Sequence[_Line]) -> list[_Line | str]:
    """Return the lines; of each long series that differs only in numbers, only the first and the last."""
    folded: list[_Line | str] = []
    for _, group in groupby(lines, key=lambda line: NUMBER.sub("0", line[2])):
        row = list(group)
        folded += row if len(row) < ALIKE_MIN else [row[0], f"... {len(row) - 2} similar lines", row[-1]]
    return folded


def _others(rows: Sequence[Anomaly]) -> list[str]:
    lines = []
    for row in rows[:OTHERS_MAX]:
        lines += _hanging(f"{where(row)}: {row.text}")
    if len(rows) > OTHERS_MAX:
        lines.append(f"  ... and {len(rows) - OTHERS_MAX} more; -o json lists all")
    return lines


def _hanging(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _wrapped(text: str) -> str:
    return "\n".join(line for part in text.splitlines() for line in textwrap.wrap(part, WIDTH, break_on_hyphens=False))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
