"""Connection options of one process: Kafka's connection configs as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from kmirror.client.backoff import Backoff
from kmirror.kernel.clock import SECOND, Duration, from_ms
from kmirror.spec.configs import Configs
from kmirror.spec.configs.lists import split_entries

INT_MAX = (1 << 31) - 1
SETUP = Backoff(10_000, 30_000)


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """Limits on the resources that clients and peers may use; the defaults are Kafka's."""

    request_bytes_max: int = 100 << 20
    """`socket.request.max.bytes`: a longer frame closes its link before memory is allocated for it."""
    idle_max: Duration = 600 * SECOND
    """`connections.max.idle.ms`: a link idle for longer is closed."""
    links_max: int = INT_MAX
    """`max.connections`: at this number of open links, no link is accepted until one is closed."""
    links_per_ip_max: int = INT_MAX
    """`max.connections.per.ip`: further connections from the same address are closed immediately."""
    links_per_ip: Mapping[str, int] = field(default_factory=dict)
    """`max.connections.per.ip.overrides`: the same limit for individual addresses."""
    setup: Backoff = SETUP
    """`socket.connection.setup.timeout.ms` and its maximum: the timeout for connecting to a peer."""

    @classmethod
    def from_configs(cls, configs: Configs) -> Self:
        """Return the options that a broker's configs set."""
        pairs = split_entries(configs.text("max.connections.per.ip.overrides"))
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

    def limit_for(self, address: str) -> int:
        """Return the maximum number of open links from an address."""
        return self.links_per_ip.get(address, self.links_per_ip_max)
