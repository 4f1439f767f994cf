"""Where are the controllers of a cluster, and which of them leads, as far as a broker knows?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.kernel.ids import Endpoint


@dataclass(frozen=True, slots=True)
class ControllerDirectory:
    """The controllers of a cluster; another leader makes another directory."""

    endpoints: Mapping[int, Endpoint]
    """Node id to where the controller listens."""
    leader_id: int

    @property
    def leader(self) -> Endpoint:
        """Return the endpoint of the controller that leads."""
        return self.endpoints[self.leader_id]
