"""Checks of arguments: each returns the value, or raises `UsageError` with the expected type.

They are called where user input enters, in constructors and methods of the public classes, so internal code never
receives a value of another type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

from kmirror.errors import LocalProtocolError, UsageError
from kmirror.kernel.ids import TopicPartition

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an int between both bounds (inclusive); a bool is not accepted."""
    if type(value) is bool or not isinstance(value, int) or value < least or (most is not None and value > most):
        span = f"from {least} on" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} must be an integer {span}, not {shown(value)}")
    return value


def seconds(name: str, value: object) -> float:
    """Return a finite number of seconds, 0 or more."""
    return _span(name, value, "seconds")


def milliseconds(name: str, value: object) -> float:
    """Return a finite number of milliseconds, 0 or more."""
    return _span(name, value, "milliseconds")


def _span(name: str, value: object, unit: str) -> float:
    if type(value) is bool or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise UsageError(f"{name} must be a number of {unit}, 0 or more, not {shown(value)}")
    return value


def text(name: str, value: object) -> str:
    """Return a str."""
    if not isinstance(value, str):
        hint = f"; {value.decode('ascii', 'replace')!r} is text" if isinstance(value, bytes) else ""
        raise UsageError(f"{name} must be a string, not {shown(value)}{hint}")
    return value


def member(name: str, value: object, enum: type[E]) -> E:
    """Return a member of an enum; its name or value is not accepted."""
    if not isinstance(value, enum):
        known = ", ".join(f"{enum.__name__}.{each.name}" for each in enum)
        raise UsageError(f"{name} must be one of {known}, not {shown(value)}")
    return value


def instance(name: str, value: object, class_: type[T], hint: str = "") -> T:
    """Return an instance of a class; `hint` is appended to the error text."""
    if not isinstance(value, class_):
        raise UsageError(f"{name} must be a {class_.__name__}, not {shown(value)}{hint and f'; {hint}'}")
    return value


def callback(name: str, value: object) -> None:
    """Reject a value that is not callable."""
    if not callable(value):
        raise UsageError(f"{name} must be callable, not {shown(value)}")


def configs(values: object) -> dict[str, str]:
    """Return a copy of configs, a mapping from str to str; raises UsageError for other types."""
    result: dict[str, str] = {}
    for key, value in changes(values).items():
        if value is None:
            raise UsageError(f"configs[{key!r}] must be a string, not None")
        result[key] = value
    return result


def changes(values: object) -> dict[str, str | None]:
    """Return config changes, a mapping from str to str or None, as a new dict.

    The error text shows a value of the wrong type only if it is a number: other values may be passwords.
    """
    if not isinstance(values, Mapping):
        raise UsageError(f"configs must be a mapping of names to strings, not {type(values).__name__}")
    for key, value in values.items():
        text("a name in configs", key)
        if value is not None and not isinstance(value, str):
            description = shown(value) if isinstance(value, int | float) else type(value).__name__
            raise UsageError(f"configs[{key!r}] must be a string, not {description}")
    return dict(values)


def byte_view(description: str, buffer: object) -> memoryview:
    """Return a byte view of a buffer (bytes, bytearray, memoryview, mmap); raises `LocalProtocolError` otherwise."""
    try:
        return memoryview(buffer).cast("B")  # type: ignore[arg-type]  # TypeError: it is no buffer.
    except TypeError:
        hint = "; bytes.fromhex reads hex digits" if isinstance(buffer, str) else ""
        raise LocalProtocolError(f"{description} is read from bytes, not from {shown(buffer)}{hint}") from None


def partition(value: object) -> TopicPartition:
    """Return a TopicPartition; the number is not checked, as only a cluster knows which partitions exist."""
    if not isinstance(value, TopicPartition):
        raise UsageError(
            f"a partition must be a TopicPartition, such as TopicPartition('orders', 0), not {shown(value)}"
        )
    if [type(field) for field in value] != [str, int]:
        raise UsageError(f"a TopicPartition has a string and an integer, not {shown(tuple(value))}")
    return value


def partitions(values: object) -> list[TopicPartition]:
    """Return several TopicPartitions as a list; a single one is rejected."""
    return [partition(each) for each in items("partitions", values, "TopicPartition")]


def items(name: str, values: object, noun: str) -> list[Any]:
    """Return several values as a list; str, bytes and named tuples count as one value and are rejected."""
    if isinstance(values, str | bytes) or hasattr(values, "_fields") or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list of {noun}, not {shown(values)}")
    return list(values)


def shown(value: Any) -> str:
    """Return the `repr` of a value for an error text, shortened to about 80 characters."""
    result = repr(value)
    return result if len(result) <= 80 else f"{result[:60]}... ({type(value).__name__})"
