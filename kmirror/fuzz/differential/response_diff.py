"""Comparison of two brokers' responses to the same request: error codes, and rows that only one of them has.

Texts, offsets, epochs, times and ids are not compared: they depend on earlier requests, or on the broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from kmirror.protocol.json_form import json_name
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct
from kmirror.spec.error_codes import ErrorCode

_ERROR_CODE = "error_code"
# Fields that identify a row: rows of two responses with the same values are compared with each other.
_NAME_FIELDS = frozenset(
    {
        "name", "topic", "topic_name", "topic_id", "partition", "partition_index", "index", "group_id",
        "transactional_id", "resource_type", "resource_name", "key", "producer_id", "feature", "log_dir",
    }
)  # fmt: skip
_TOPIC_NAMES = ("name", "topic", "topic_name")
_NOT_COMPARED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # The APIs of each broker are compared once, at the start.
        "ApiVersions": frozenset({"apiKeys", "supportedFeatures", "finalizedFeatures"}),
        # Listeners and log directories differ by nature.
        "Metadata": frozenset({"brokers"}),
        "DescribeCluster": frozenset({"brokers"}),
        "DescribeLogDirs": frozenset({"results"}),
        # The config keys depend on the release.
        "DescribeConfigs": frozenset({"results.configs"}),
        "CreateTopics": frozenset({"topics.configs"}),
    }
)
"""Paths of rows that are not compared, by API."""
_LISTING = frozenset({"ListGroups", "ListTransactions"})
"""APIs that list all that exists, also from earlier rounds: a transactional id cannot be deleted."""


class Difference(NamedTuple):
    """A difference between two responses, with the value of each."""

    path: str
    """Path of the field in JSON names, such as `topics.partitions.errorCode`; "" for the whole response."""
    ours: str
    theirs: str
    row: str = ""
    """The row, by its identifying values."""

    def cause(self, api: str) -> str:
        """Return the text that differences of one cause share."""
        location = f"{api} {self.path}".rstrip()
        return f"{location}: {self.ours} by ours, {self.theirs} by theirs"

    @property
    def description(self) -> str:
        """Return the difference in words."""
        location = f"{self.path}{self.row and f' of {self.row}'}: " if self.path else ""
        return f"{location}{self.ours} by ours, {self.theirs} by theirs"


def code_name(code: int) -> str:
    """Return the name of an error code, or "code N" if it has none."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"code {code}"


def differences(api: str, ours: Message, theirs: Message, mark: str, other_rounds: Sequence[str]) -> list[Difference]:
    """Return the differences between two responses of an API; a differing error code hides those below it.

    Rows that name one of `other_rounds` are skipped; so are rows without `mark` in the APIs of `_LISTING`.
    """
    comparison = _Comparison(_NOT_COMPARED.get(api, frozenset()), mark if api in _LISTING else "", tuple(other_rounds))
    comparison.struct("", "", ours, theirs)
    return comparison.found


class _Comparison:
    """Walks through two responses in parallel."""

    def __init__(self, skipped: frozenset[str], mark: str, other_rounds: tuple[str, ...]) -> None:
        self.found: list[Difference] = []
        self._mark = mark
        self._skipped = skipped
        self._other_rounds = other_rounds

    def struct(self, path: str, row: str, ours: Struct, theirs: Struct) -> None:
        for field in ours.FIELDS:
            if field.attribute.endswith(_ERROR_CODE):
                codes = getattr(ours, field.attribute), getattr(theirs, field.attribute)
                if codes[0] != codes[1]:
                    self.found.append(
                        Difference(_child_path(path, field), code_name(codes[0]), code_name(codes[1]), row)
                    )
                    return
        for field in ours.FIELDS:
            if field.struct is None:
                continue
            child = _child_path(path, field)
            if child in self._skipped:
                continue
            left, right = getattr(ours, field.attribute), getattr(theirs, field.attribute)
            if field.is_array:
                self.rows(child, row, left or (), right or ())
            elif left is not None and right is not None:
                self.struct(child, row, left, right)
            elif left is not right:
                values = ("null", "set") if left is None else ("set", "null")
                self.found.append(Difference(child, *values, row))

    def rows(self, path: str, row: str, ours: Sequence[Struct], theirs: Sequence[Struct]) -> None:
        ours, theirs = _merge_topic_rows(self.of_this_round(ours)), _merge_topic_rows(self.of_this_round(theirs))
        left, right = _by_name(ours), _by_name(theirs)
        if left is None or right is None:
            if len(ours) != len(theirs):
                more = len(ours) > len(theirs)
                values = ("more rows", "fewer rows") if more else ("fewer rows", "more rows")
                self.found.append(Difference(path, *values, f"{row} ({len(ours)} and {len(theirs)})".strip()))
                return
            left, right = dict(enumerate(ours)), dict(enumerate(theirs))
        for name in [*left, *(name for name in right if name not in left)]:
            child = f"{row} {_name_text(name)}".strip()
            if name not in right:
                self.found.append(Difference(path, "a row", "none", child))
            elif name not in left:
                self.found.append(Difference(path, "none", "a row", child))
            else:
                self.struct(path, child, left[name], right[name])

    def of_this_round(self, rows: Sequence[Struct]) -> list[Struct]:
        def is_new(row: Struct) -> bool:
            text = " ".join(value for value in _name_of(row) if isinstance(value, str))
            return self._mark in text and not any(each in text for each in self._other_rounds)

        return [row for row in rows if is_new(row)]


def _child_path(path: str, field: Field) -> str:
    return f"{path}.{json_name(field.name)}".lstrip(".")


def _name_of(row: Struct) -> tuple[Any, ...]:
    found = {field.attribute: getattr(row, field.attribute) for field in row.FIELDS if field.attribute in _NAME_FIELDS}
    if any(found.get(name) for name in _TOPIC_NAMES):
        found.pop("topic_id", None)  # Each cluster draws its own ids.
    if found.get("transactional_id"):
        found.pop("producer_id", None)
    return tuple(found.values())


def _merge_topic_rows(rows: Sequence[Struct]) -> Sequence[Struct]:
    """Return the rows of topics with the partitions of repeated names joined into the first row.

    The number of rows for a topic has no meaning for clients.
    """
    found: dict[Any, Struct] = {}
    for row in rows:
        lists = [field.attribute for field in row.FIELDS if field.struct is not None and field.is_array]
        if len(lists) != 1 or not any(field.attribute in _TOPIC_NAMES for field in row.FIELDS):
            return rows
        first = found.setdefault(_name_of(row), row)
        if first is not row:
            setattr(first, lists[0], [*(getattr(first, lists[0]) or ()), *(getattr(row, lists[0]) or ())])
    return list(found.values())


def _by_name(rows: Sequence[Struct]) -> dict[Any, Struct] | None:
    """Return the rows by their names; None if they have none, or a name is repeated."""
    found = {_name_of(row): row for row in rows}
    return None if () in found or len(found) < len(rows) else found


def _name_text(name: Any) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return " ".join(f"{part!s:.60}" for part in parts if part not in (None, ""))


def summary(codes: Sequence[int]) -> str:
    """Return the most frequent error codes of a response, at most three, or "no error"."""
    counts = Counter(code for code in codes if code)
    return ", ".join(code_name(code) for code, _ in counts.most_common(3)) or "no error"
