"""What do the parts of one controller share?

Identity, what the metadata log says so far, and where to write what is wanted. Handlers read it; only the controller
itself replaces the configs, moves the image on and opens the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kmirror.cluster.controller.metadata_log import MetadataLog
from kmirror.cluster.images import MetadataImage
from kmirror.kernel.clock import Instant
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.protocol.message import Message
from kmirror.spec.apis import versions_disabled, versions_served
from kmirror.spec.configs import Configs
from kmirror.spec.features import MIRROR_VERSION

Commit = Callable[[Instant, Sequence[Message]], None]
"""Append records as one batch and replay them."""


@dataclass(slots=True)
class ControllerContext:
    """One controller, as its parts see it."""

    node_id: int
    cluster_id: str
    configs: Configs
    """What holds now; another object after every alteration, so nobody keeps it."""
    rng: Rng
    image: MetadataImage = field(default_factory=MetadataImage)
    outbox: Outbox = field(default_factory=Outbox)
    opened_log: MetadataLog | None = None
    """None until the controller has started."""

    @property
    def log(self) -> MetadataLog:
        """Return the metadata log of a controller that has started."""
        assert self.opened_log is not None, "started"
        return self.opened_log

    def next_offset(self) -> int:
        """Return the offset that the next record will get; a broker's epoch is the one of its registration."""
        return self.image.offset + 1

    @property
    def mirror_enabled(self) -> bool:
        return self.image.features.get(MIRROR_VERSION, 0) >= 1

    def api_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what this controller serves now: api key to (first, last) version."""
        return versions_served("controller", mirror=self.mirror_enabled)

    def disabled_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what is answered with UNSUPPORTED_VERSION now (D1)."""
        return versions_disabled("controller", mirror=self.mirror_enabled)
