"""The controllers of a cluster and their leader, as far as a broker knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.kernel.ids import Endpoint


@dataclass(frozen=True, slots=True)
class ControllerDirectory:
    """The controllers of a cluster; immutable, a new leader requires a new directory."""

    endpoints: Mapping[int, Endpoint]
    """Node id -> endpoint of the controller."""
    leader_id: int

    @property
    def leader(self) -> Endpoint:
        """Endpoint of the leading controller."""
        return self.endpoints[self.leader_id]
