"""A member of a classic group: what it said when it joined, what it was assigned, and which of its requests wait."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kmirror.protocol.message import Message

Protocols = tuple[tuple[str, bytes], ...]
"""(name, metadata) of the assignors that a member supports, the one that it likes best first."""
Waiter = Callable[[Message], None]
"""Answers a request that has no answer yet."""


@dataclass(slots=True, eq=False)
class Member:
    """One member of a group."""

    member_id: str
    group_instance_id: str | None
    """The name of a static member (KIP-345); None for a dynamic one."""
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    assignment: bytes = b""
    join_waiter: Waiter | None = None
    sync_waiter: Waiter | None = None
    is_new: bool = False
    """Has it never been told its member id by the end of a join? Then a join that waits does not keep it alive."""

    @property
    def awaits_join(self) -> bool:
        return self.join_waiter is not None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_alive_by_waiting(self) -> bool:
        """Return whether a request that waits stands for the heartbeats that the member cannot send meanwhile."""
        return not self.is_new and (self.join_waiter is not None or self.sync_waiter is not None)

    def names(self) -> list[str]:
        """Return the names of its protocols, each once."""
        return list(dict.fromkeys(name for name, _ in self.protocols))

    def metadata(self, protocol: str) -> bytes:
        """Return what the member said for `protocol`, which it supports."""
        return next(data for name, data in self.protocols if name == protocol)

    def vote(self, candidates: Collection[str]) -> str:
        """Return the protocol among `candidates` that the member likes best."""
        return next(name for name, _ in self.protocols if name in candidates)


def protocols_of(rows: Sequence[tuple[str, bytes]]) -> Protocols:
    """Return the protocols of a request; of a name that comes twice the first row counts."""
    found: dict[str, bytes] = {}
    for name, data in rows:
        found.setdefault(name, data)
    return tuple(found.items())
