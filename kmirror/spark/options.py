"""Options of the format `kafka-log`.

path             log.dirs folder, partition folder, segment file or glob; several joined by commas
level            record (default) | batch
columns          the columns to read, joined by commas: others are not decoded
topics           names joined by commas; all if absent
startingOffset   first offset read of every partition        endingOffset     first offset not read
startingTime     first timestamp read, in ms                 endingTime       first timestamp not read
isolation        read_uncommitted (default) | read_committed
onCorrupt        fail (default) | skip | row: null columns and the reason in column `corrupt`
checkCrc         true (default) | false
includeInternal  false (default) | true: __consumer_offsets and the like
includeControl   false (default) | true: control records too, as rows with isControl
pushFilters      false (default) | true: filters that Spark itself pushes (its spark.sql.python.filterPushdown.enabled)
                 restrict the records to read. Spark 4.1 to 4.3 apply them to every query over the same DataFrame:
                 load again for each query. The optimizer's rule of kmirror.spark.planner does not need it.
splitBytes       size of a piece of work, 67108864 by default
bytesPerTrigger  streaming: maximum size of a micro-batch, no limit by default
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.errors import UsageError
from kmirror.spark.folders import SPLIT_BYTES
from kmirror.spark.rows import COLUMNS, CORRUPT_COLUMN, RowQuery

# Spark passes option names in any case.
NAMES = (
    "path", "level", "columns", "topics", "startingOffset", "endingOffset", "startingTime", "endingTime", "isolation",
    "onCorrupt", "checkCrc", "includeInternal", "includeControl", "pushFilters", "splitBytes", "bytesPerTrigger",
)  # fmt: skip
CHOICES = {
    "level": ("record", "batch"),
    "isolation": ("read_uncommitted", "read_committed"),
    "onCorrupt": ("fail", "skip", "row"),
    "checkCrc": ("true", "false"),
    "includeInternal": ("false", "true"),
    "includeControl": ("false", "true"),
    "pushFilters": ("false", "true"),
}


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options, parsed and checked."""

    path: str
    query: RowQuery
    topics: tuple[str, ...] | None
    is_committed: bool
    include_internal: bool
    push_filters: bool
    split_bytes: int
    bytes_per_trigger: int | None


def parse_options(options: Mapping[str, str]) -> LogOptions:
    """Return the options; raises `UsageError` that names the invalid one."""
    values = {name.lower(): value for name, value in options.items()}
    unknown = sorted(values.keys() - {name.lower() for name in NAMES})
    if unknown:
        raise UsageError(f"kafka-log has no option {unknown[0]!r}; it has {', '.join(NAMES)}")

    def choice(name: str) -> str:
        value = values.get(name.lower(), CHOICES[name][0]).lower()
        if value not in CHOICES[name]:
            raise UsageError(f"option {name} must be one of {', '.join(CHOICES[name])}, not {value!r}")
        return value

    def number(name: str, least: int) -> int | None:
        text = values.get(name.lower())
        if text is None:
            return None
        if not text.strip().lstrip("-").isdigit() or int(text) < least:
            raise UsageError(f"option {name} must be an integer from {least} on, not {text!r}")
        return int(text)

    level = choice("level")
    if not values.get("path"):
        raise UsageError('kafka-log needs a path: .load("/kafka-logs")')
    query = RowQuery(
        level=level,
        columns=_columns(values.get("columns"), level, choice("onCorrupt")),
        offset_first=number("startingOffset", 0),
        offset_end=number("endingOffset", 0),
        timestamp_first=number("startingTime", -1),
        timestamp_end=number("endingTime", -1),
        on_corrupt=choice("onCorrupt"),
        check_crc=choice("checkCrc") == "true",
        include_control=choice("includeControl") == "true",
    )
    topics = values.get("topics")
    return LogOptions(
        path=values["path"],
        query=query,
        topics=None if topics is None else tuple(name.strip() for name in topics.split(",") if name.strip()),
        is_committed=choice("isolation") == "read_committed",
        include_internal=choice("includeInternal") == "true",
        push_filters=choice("pushFilters") == "true",
        split_bytes=number("splitBytes", 1) or SPLIT_BYTES,
        bytes_per_trigger=number("bytesPerTrigger", 1),
    )


def _columns(text: str | None, level: str, on_corrupt: str) -> tuple[str, ...]:
    known = tuple(COLUMNS[level]) + ((CORRUPT_COLUMN,) if on_corrupt == "row" else ())
    if text is None:
        return known
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise UsageError(f"level {level} has no column {unknown[0] if unknown else text!r}; it has {', '.join(known)}")
    return names
