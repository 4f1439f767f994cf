"""TOML files of users; errors are reported with the path."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from kmirror.errors import UsageError

T = TypeVar("T")


def read_toml(path: Path, parse: Callable[[Mapping[str, Any]], T]) -> T:
    """Return the result of `parse` for the file's table; `UsageError` names the file, also for errors of `parse`."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from None
    try:
        return parse(table)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
