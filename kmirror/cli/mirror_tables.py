"""Output of `kmirror mirrors`: the KIP's tables, or JSON objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kmirror.assembly.mirrors import Description, MirrorListing
from kmirror.mirror.syncs.explain import Explanation
from kmirror.mirror.syncs.rules import Verdict

LIST_WIDTHS = (30, 10, 26, 50)
LIST_HEADINGS = ("MIRROR", "TOPICS", "CLUSTER-ID", "BOOTSTRAP-SERVER")
DESCRIBE_WIDTHS = (30, 40, 10, 15, 18, 10, 12)
DESCRIBE_HEADINGS = ("MIRROR", "TOPIC", "PARTITION", "SOURCE-OFFSET", "DESTINATION-OFFSET", "LAG", "STATE")
FILTER_WIDTHS = (6, 60, 8, 1)
FILTER_HEADINGS = ("KIND", "NAME", "MIRRORED", "WHY")
PARTITION_FIELDS = ("partition", "source_offset", "destination_offset", "lag", "state", "last_mirrored_epoch")
TOPIC_NOT_FOUND = "the topic does not exist yet, or you are not authorized to describe it"
UNKNOWN = "-"
ELLIPSIS = "..."


def list_table(listings: Iterable[MirrorListing]) -> str:
    """Return the table of mirrors."""
    rows = [
        (
            _fit_width(row.name, LIST_WIDTHS[0]),
            str(row.topic_count),
            row.source_cluster_id or UNKNOWN,
            row.source_servers,
        )
        for row in listings
    ]
    return _table(LIST_HEADINGS, rows, LIST_WIDTHS) if rows else "No mirrors found\n"


def describe_table(mirrors: Mapping[str, Description]) -> str:
    """Return the table of the partitions of mirrors that have a leader."""
    rows = [
        (
            _fit_width(mirror, DESCRIBE_WIDTHS[0]),
            _fit_width(row.tp.topic, DESCRIBE_WIDTHS[1]),
            str(row.tp.partition),
            *(
                UNKNOWN if number < 0 else str(number)
                for number in (row.source_offset, row.destination_offset, row.lag)
            ),
            row.state.name,
        )
        for mirror, described in mirrors.items()
        for row in described.rows
    ]
    return _table(DESCRIBE_HEADINGS, rows, DESCRIBE_WIDTHS) if rows else "No mirror partitions found\n"


def reasons(mirrors: Mapping[str, Description]) -> str:
    """Return a line for each mirror with an unreachable source or a warning.

    Topics without a leader, and partitions that wait or failed, have lines, too.
    """
    return "".join(f"{mirror} {line}\n" for mirror, described in mirrors.items() for line in _reasons(described))


def _reasons(described: Description) -> Iterator[str]:
    if described.reason:
        yield f"waits for its source: {described.reason}"
    if described.warning:
        yield f"warning: {described.warning}"
    for topic in described.topics_without_rows:
        yield f"{topic}: {TOPIC_NOT_FOUND}"
    for row in described.rows:
        if row.reason:
            yield f"{row.tp}: {row.state.name}: {row.reason}"


def list_json(listings: Iterable[MirrorListing]) -> str:
    """Return one object per line for each mirror."""
    return "".join(
        _json_line(
            mirror=row.name,
            topics=row.topic_count,
            cluster_id=row.source_cluster_id or None,
            bootstrap_server=row.source_servers,
            warning=row.warning or None,
        )
        for row in listings
    )


def describe_json(mirrors: Mapping[str, Description]) -> str:
    """Return one object per line for each partition; unknown values are null.

    A topic without a leader has a line without a partition; a mirror without topics, if its source is unreachable, has
    one without a topic.
    """
    return "".join(
        _json_line(mirror=mirror, **values, mirror_reason=described.reason or None, warning=described.warning or None)
        for mirror, described in mirrors.items()
        for values in _partition_fields(described)
    )


def _partition_fields(mirror: Description) -> Iterator[dict[str, object]]:
    for row in mirror.rows:
        yield {
            "topic": row.tp.topic,
            "partition": row.tp.partition,
            "source_offset": _number_or_none(row.source_offset),
            "destination_offset": _number_or_none(row.destination_offset),
            "lag": _number_or_none(row.lag),
            "state": row.state.name,
            "last_mirrored_epoch": _number_or_none(row.last_mirrored_epoch),
            "reason": row.reason or None,
        }
    for topic in mirror.topics_without_rows:
        yield {"topic": topic, **dict.fromkeys(PARTITION_FIELDS), "reason": TOPIC_NOT_FOUND}
    if (mirror.reason or mirror.warning) and not mirror.topics:
        yield dict.fromkeys(("topic", *PARTITION_FIELDS, "reason"))


def filter_rows(found: Explanation) -> list[tuple[str, str, Verdict]]:
    """Return kind, name and verdict of everything at the source; the topic precedes a config's name."""
    return [
        *(("topic", name, verdict) for name, verdict in found.topics.items()),
        *(
            ("config", f"{topic}: {name}", verdict)
            for topic, verdicts in found.configs.items()
            for name, verdict in verdicts.items()
        ),
        *(("group", name, verdict) for name, verdict in found.groups.items()),
    ]


def filter_table(rows: Iterable[tuple[str, str, Verdict]]) -> str:
    """Return the table of verdicts."""
    lines = [
        (kind, _fit_width(name, FILTER_WIDTHS[1]), "yes" if verdict.is_mirrored else "no", verdict.rule)
        for kind, name, verdict in rows
    ]
    return _table(FILTER_HEADINGS, lines, FILTER_WIDTHS)


def filter_json(rows: Iterable[tuple[str, str, Verdict]]) -> str:
    """Return one object per line for each verdict."""
    return "".join(
        _json_line(kind=kind, name=name, mirrored=verdict.is_mirrored, why=verdict.rule) for kind, name, verdict in rows
    )


def outcome_json(
    action: str, mirror: str, topics: Sequence[str] | None, refused: Mapping[str, str], *, is_dry: bool
) -> str:
    """Return the object for an order: the topics for which it was carried out, and the errors of the others."""
    topic_fields = {} if topics is None else {"topics": list(topics), "refused": dict(refused)}
    return _json_line(action=action, mirror=mirror, **topic_fields, dry_run=is_dry)


def _number_or_none(number: int) -> int | None:
    return None if number < 0 else number


def _json_line(**values: object) -> str:
    return json.dumps(values) + "\n"


def _fit_width(name: str, width: int) -> str:
    """Return a name that fits; a long one is shortened to its end, which distinguishes names with a common prefix."""
    return name if len(name) <= width else ELLIPSIS + name[len(ELLIPSIS) - width :]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    lines = [headings, *rows]
    return "".join(
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
