"""Strategies for arbitrary messages and their parts: any values that the types of a version allow.

They include numbers over their whole range, any text, any bytes as records, and nulls and unknown tags if the version
has them: everything that a codec must support. `plausible` generates messages that make sense to a broker.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from kmirror.errors import UsageError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import RANGES, is_within
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name, names, released_versions
from kmirror.protocol.structs import Field, Struct, check_version, fresh_default
from kmirror.protocol.wire import UnknownTag

S = TypeVar("S", bound=Struct)
M = TypeVar("M", bound=Message)

# Enough for every kind of length prefix, small enough for thousands of examples.
ARRAY_SIZE_MAX = 3
TEXT_SIZE_MAX = 40
BYTES_SIZE_MAX = 200

uuids: st.SearchStrategy[Uuid] = st.one_of(st.just(Uuid.ZERO), st.binary(min_size=16, max_size=16).map(Uuid))
# Lone surrogates have no UTF-8 form.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=TEXT_SIZE_MAX)
blobs = st.binary(max_size=BYTES_SIZE_MAX)


def _scalars(type_: str) -> st.SearchStrategy[Any]:
    if type_ in RANGES:
        low, high = RANGES[type_]
        return st.integers(low, high)
    return {
        "bool": st.booleans(),
        # A NaN is not equal to itself, and JSON has none.
        "float64": st.floats(allow_nan=False, allow_infinity=False),
        "uuid": uuids,
        "string": texts,
        "bytes": blobs,
        "records": blobs,
    }[type_]


def _values(field: Field, version: int, flexible: bool, unknown_tags: bool) -> st.SearchStrategy[Any]:
    if not is_within(version, field.versions):
        return st.builds(fresh_default, st.just(field))
    if field.type == "struct":
        values: st.SearchStrategy[Any] = _structs(field.struct, version, flexible, unknown_tags)
    else:
        values = _scalars(field.type)
    if field.is_array:
        values = st.lists(values, max_size=ARRAY_SIZE_MAX)
    if is_within(version, field.nullable):
        values = st.none() | values
    return values


@st.composite
def _unknown_tags(draw: st.DrawFn, first: int) -> tuple[UnknownTag, ...]:
    tags = draw(st.lists(st.integers(first, first + 400), max_size=2, unique=True))
    return tuple(UnknownTag(tag, draw(blobs)) for tag in sorted(tags))


@cache
def _structs(cls: Any, version: int, flexible: bool, unknown_tags: bool) -> st.SearchStrategy[Any]:
    fields = {f.attribute: _values(f, version, flexible, unknown_tags) for f in cls.FIELDS}
    if flexible and unknown_tags:
        first_unknown = 1 + max((f.tag for f in cls.FIELDS), default=-1)
        fields["unknown_tags"] = st.just(()) | _unknown_tags(first_unknown)
    return st.builds(cls, **fields)


def messages(cls: type[M], version: int | None = None, *, unknown_tags: bool = True) -> st.SearchStrategy[M]:
    """Return a strategy for messages that `version` (by default the newest) can carry."""
    used_version = cls.MAX_VERSION if version is None else version
    check_version(cls, used_version)
    flexible = cls.FLEXIBLE_FROM is not None and used_version >= cls.FLEXIBLE_FROM
    key: Any = cls
    found: st.SearchStrategy[M] = _structs(key, used_version, flexible, unknown_tags)
    return found


def versions(cls: type[Message], *, release: str | None = None) -> st.SearchStrategy[int]:
    """Return a strategy for the versions of a message, or those in a Kafka `release`; UsageError if it has none."""
    if release is None:
        return st.integers(cls.MIN_VERSION, cls.MAX_VERSION)
    supported = released_versions(cls, release)
    if not supported:
        raise UsageError(f"Apache Kafka {release} supports no version of {cls.NAME}")
    return st.integers(supported[0], supported[-1])


@st.composite
def versioned(draw: st.DrawFn, cls: type[M], *, unknown_tags: bool = True, release: str | None = None) -> tuple[M, int]:
    """Draw a message and a version that can carry it; with `release`, a version of that release and no unknown tags."""
    version = draw(versions(cls, release=release))
    return draw(messages(cls, version, unknown_tags=unknown_tags and release is None)), version


def classes(*, release: str | None = None) -> st.SearchStrategy[type[Message]]:
    """Return a strategy for the classes of all messages, or of those that a Kafka `release` supports."""
    supported = [name for name in names() if release is None or released_versions(by_name(name), release)]
    return st.sampled_from(supported).map(by_name)


@st.composite
def any_message(draw: st.DrawFn, *, unknown_tags: bool = True, release: str | None = None) -> tuple[Message, int]:
    """Draw a message of any class and a version that can carry it; for `release` see `versioned`."""
    return draw(versioned(draw(classes(release=release)), unknown_tags=unknown_tags, release=release))


def structs(cls: type[S]) -> st.SearchStrategy[S]:
    """Return a strategy for parts of messages in the newest version that has them."""
    newest = max((f.versions[1] for f in cls.FIELDS), default=0)
    key: Any = cls
    found: st.SearchStrategy[S] = _structs(key, newest, False, False)
    return found
