"""Shared state of the parts of one controller: identity, configs, the metadata image, and the outbox for effects.

Handlers only read it; the controller itself replaces the configs and changes the image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kmirror.cluster.images import MetadataImage
from kmirror.cluster.metadata.log import MetadataLog
from kmirror.cluster.metadata.quorum import Quorum
from kmirror.kernel.clock import Instant
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.protocol.message import Message
from kmirror.spec.apis import versions_disabled, versions_served
from kmirror.spec.configs import Configs

Commit = Callable[[Instant, Sequence[Message]], None]
"""Propose records, in as many batches as needed, and replay them."""


@dataclass(slots=True)
class ControllerContext:
    """The state of one controller that its parts share."""

    node_id: int
    cluster_id: str
    configs: Configs
    """The current configs. Every change creates a new object, so do not keep a reference."""
    rng: Rng
    outbox: Outbox
    quorum: Quorum
    static_configs: Mapping[str, str] = field(default_factory=dict)
    """The configs of the properties file."""
    image: MetadataImage = field(default_factory=MetadataImage)
    """The image with all proposed records, committed or not."""

    @property
    def log(self) -> MetadataLog:
        """The metadata log of a controller that has opened it."""
        assert self.quorum.log is not None, "opened"
        return self.quorum.log

    def next_offset(self) -> int:
        """Return the offset of the next record; the offset of its registration is a broker's epoch."""
        return self.image.offset + 1

    @property
    def mirror_enabled(self) -> bool:
        """Whether feature mirror.version is at 1 or above (D1)."""
        return self.image.features.has_mirrors

    def api_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return the versions that this controller currently serves: api key -> (first, last) version."""
        return versions_served("controller", mirror=self.mirror_enabled)

    def disabled_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return the versions that currently get UNSUPPORTED_VERSION (D1): api key -> (first, last) version."""
        return versions_disabled("controller", mirror=self.mirror_enabled)
