"""Warning that the source allows unclean elections, for topics whose mirror does not support such elections (D67)."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.kernel.names import few
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.syncs.source_configs import UNCLEAN
from kmirror.spec.configs import Configs, Scope

SUPPORTS_UNCLEAN = "mirror.support.unclean.leader.election"


def unclean_warning(topics: Sequence[str]) -> str:
    """Return the warning about topics that may have unclean elections at their source."""
    return (
        f"the source allows unclean elections of {few(topics, 'topics')} ({UNCLEAN}), and {SUPPORTS_UNCLEAN} is off "
        "here: replicas that are away while a log is cut may keep records that the source has lost"
    )


def not_supported(context: MirrorContext, topics: Sequence[str]) -> list[str]:
    """Return those topics for which `mirror.support.unclean.leader.election` is off here."""
    broker = context.broker
    return [
        name
        for name in topics
        if not Configs(Scope.TOPIC, broker.image.configs.topic(name), broker.configs).flag(SUPPORTS_UNCLEAN)
    ]
