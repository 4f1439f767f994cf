"""The kinds of groups: what a kind brings to the coordinator, and where kinds are found.

A kind is a folder beside this file with a module `kind`, whose `KIND` is a `GroupKind`. So it registers itself: its
records in `__consumer_offsets`, its requests, the rows of its groups in lists, and what the clock does to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, TypeVar

from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import Tables
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs

G = TypeVar("G", bound=Group)


class GroupKind(ABC, Tables, Generic[G]):
    """The groups of one kind in one shard: what their records say, and what happens to those that are alive."""

    name: ClassVar[str]
    record_types: ClassVar[Collection[int]]
    """The types of the keys of its records."""
    routes: ClassVar[Mapping[type[Message], Callable[..., None]]]
    """Its requests, and their handlers: (coordinator, now, inbound)."""

    # -- records ------------------------------------------------------------------------------

    @abstractmethod
    def replay(self, key: Message, value: Message | None) -> str | None:
        """Apply one record to the tables; return the id of the group that it ends, or None."""

    @abstractmethod
    def ids(self, *, committed: bool) -> Iterable[str]:
        """Return the ids of the groups that have records: committed ones, or any."""

    @abstractmethod
    def load(self, group_id: str, *, committed: bool) -> G | None:
        """Return the group that the records describe, the committed or the newest ones; None if there is none."""

    def simple(self, group_id: str) -> G | None:
        """Return the group of a simple consumer, of which there are offsets and no records; None for most kinds."""
        return None

    @abstractmethod
    def tombstones(self, group_id: str) -> list[KeyValue]:
        """Return the records that end a group."""

    # -- groups that are alive ----------------------------------------------------------------

    @abstractmethod
    def begin(self, group: G, now_ms: int, configs: Configs) -> None:
        """Go on with a group that was loaded."""

    @abstractmethod
    def on_timer(self, group: G, now_ms: int, timer: Enum, member_id: str) -> None:
        """Go on when a timer fires that the group has set."""


@cache
def kinds() -> tuple[type[GroupKind[Any]], ...]:
    """Return the kinds of groups, by the names of their folders."""
    package = __name__.rpartition(".")[0]
    folders = [found.name for found in iter_modules(import_module(package).__path__) if found.ispkg]
    modules = [f"{package}.{folder}.kind" for folder in folders]
    return tuple(import_module(module).KIND for module in modules if find_spec(module) is not None)
