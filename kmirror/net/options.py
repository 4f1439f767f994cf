"""What do the links of one process keep to? Kafka's keys for connections, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from kmirror.client.backoff import Backoff
from kmirror.kernel.clock import SECOND, Duration, from_ms
from kmirror.spec.configs import Configs
from kmirror.spec.configs.lists import entries_of

INT_MAX = (1 << 31) - 1
SETUP = Backoff(10_000, 30_000)


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """Bounds of what clients and peers may cost a process; the defaults are Kafka's."""

    request_bytes_max: int = 100 << 20
    """`socket.request.max.bytes`: a longer frame closes its link before anything is allocated for it."""
    idle_max: Duration = 600 * SECOND
    """`connections.max.idle.ms`: a link over which nothing went for so long is closed."""
    links_max: int = INT_MAX
    """`max.connections`: with so many links open, no other is accepted until one is gone."""
    links_per_ip_max: int = INT_MAX
    """`max.connections.per.ip`: one more from the same address is closed at once."""
    links_per_ip: Mapping[str, int] = field(default_factory=dict)
    """`max.connections.per.ip.overrides`: the same bound for single addresses."""
    setup: Backoff = SETUP
    """`socket.connection.setup.timeout.ms`, and its maximum: how long a peer may take to be connected to."""

    @classmethod
    def of(cls, configs: Configs) -> Self:
        """Return what a broker's configs say."""
        pairs = entries_of(configs.text("max.connections.per.ip.overrides"))
        overrides = (pair.rpartition(":") for pair in pairs)
        return cls(
            configs.integer("socket.request.max.bytes"),
            from_ms(configs.integer("connections.max.idle.ms")),
            configs.integer("max.connections"),
            configs.integer("max.connections.per.ip"),
            {address: int(count) for address, _, count in overrides},
            Backoff(
                configs.integer("socket.connection.setup.timeout.ms"),
                configs.integer("socket.connection.setup.timeout.max.ms"),
            ),
        )

    def most_from(self, address: str) -> int:
        """Return how many links an address may have open."""
        return self.links_per_ip.get(address, self.links_per_ip_max)
