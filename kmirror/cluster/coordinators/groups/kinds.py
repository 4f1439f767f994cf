"""The kinds of groups: the interface of a kind, and the discovery of kinds.

A kind is a folder beside this file with a module `kind`, whose `KIND` is a `GroupKind`. It provides its records in
`__consumer_offsets`, its requests, the rows of its groups in lists, and the handling of timers. It needs no further
registration.
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
    """The groups of one kind in one shard: the state stored in records, and the timers of live groups."""

    name: ClassVar[str]
    record_types: ClassVar[Collection[int]]
    """The key types of its records."""
    routes: ClassVar[Mapping[type[Message], Callable[..., None]]]
    """Its requests and their handlers: (coordinator, now, inbound)."""

    # -- records ------------------------------------------------------------------------------

    @abstractmethod
    def replay(self, key: Message, value: Message | None) -> str | None:
        """Apply one record to the tables; return the id of the group that it deletes, or None."""

    @abstractmethod
    def ids(self, *, committed: bool) -> Iterable[str]:
        """Return the ids of the groups that have records: only committed ones, or all."""

    @abstractmethod
    def load(self, group_id: str, *, committed: bool) -> G | None:
        """Return the group according to the committed or the newest records; None if there is none."""

    def simple_group(self, group_id: str) -> G | None:
        """Return a simple group, which has offsets but no records of its own; None for most kinds."""
        return None

    @abstractmethod
    def tombstones(self, group_id: str) -> list[KeyValue]:
        """Return the records that delete a group."""

    # -- live groups --------------------------------------------------------------------------

    @abstractmethod
    def begin(self, group: G, now_ms: int, configs: Configs) -> None:
        """Resume a group that was loaded from its records."""

    @abstractmethod
    def on_timer(self, group: G, now_ms: int, timer: Enum, member_id: str) -> None:
        """Handle a timer that the group has set."""


@cache
def kinds() -> tuple[type[GroupKind[Any]], ...]:
    """Return the kinds of groups, in the order of their folder names."""
    package = __name__.rpartition(".")[0]
    folders = [found.name for found in iter_modules(import_module(package).__path__) if found.ispkg]
    modules = [f"{package}.{folder}.kind" for folder in folders]
    return tuple(import_module(module).KIND for module in modules if find_spec(module) is not None)
