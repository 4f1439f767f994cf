"""Filters of a mirror. Pure: a name goes in, a verdict with the rule that decided comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kmirror.spec.configs import Configs
from kmirror.spec.java_patterns import compile_java

EXCLUDED_CONFIGS = "mirror.topic.properties.exclude"
INCLUDED_GROUPS = "mirror.groups.include"
CLAMP = "mirror.groups.clamp"
OWN_PREFIX = "mirror."
"""Topic configs with this prefix control how this cluster mirrors: they are never copied, whether excluded or not."""
CONSUMER_GROUP_TYPES = ("", "classic", "consumer")
"""Types of groups whose offsets OffsetFetch returns and a simple group can take over; "consumer" is KIP-848's."""
CONSUMER_PROTOCOLS = ("", "consumer")
"""Protocol types of groups that commit offsets: simple ones, which have no members, have an empty one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something is mirrored, and the rule that decided."""

    is_mirrored: bool
    rule: str
    """A config with its entry that decided, such as `mirror.groups.include=app-.*`, or a sentence."""


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group in a ListGroups response; the type is empty if the broker is too old to report it (before 3.8)."""

    group_id: str
    protocol_type: str = ""
    group_type: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """The filters in a mirror's present configs; each entry is a regular expression of Java for a whole name."""

    excluded_configs: tuple[str, ...]
    included_groups: tuple[str, ...]
    clamps_offsets: bool = False
    """Whether offsets are kept between the local log start and last stable offset."""

    @classmethod
    def from_configs(cls, configs: Configs) -> Rules:
        """Return the filters in the configs of a mirror."""
        return cls(tuple(configs.names(EXCLUDED_CONFIGS)), tuple(configs.names(INCLUDED_GROUPS)), configs.flag(CLAMP))

    def config(self, name: str) -> Verdict:
        """Return whether the topic config `name` is copied."""
        return _verdict_on_config(self.excluded_configs, name)

    def group(self, group: ListedGroup) -> Verdict:
        """Return whether the offsets of a group of the source are copied."""
        kind = group.group_type.lower()
        if kind not in CONSUMER_GROUP_TYPES:
            return Verdict(False, f"it is of type {kind}: only the offsets of classic and consumer groups are copied")
        if group.protocol_type not in CONSUMER_PROTOCOLS:
            return Verdict(False, f"its protocol type is {group.protocol_type}: it is not a consumer group")
        found = _first_match(self.included_groups, group.group_id)
        if found is None:
            return Verdict(False, f"no entry of {INCLUDED_GROUPS} matches")
        return Verdict(True, f"{INCLUDED_GROUPS}={found}")


@lru_cache(maxsize=1024)
def _verdict_on_config(excluded: tuple[str, ...], name: str) -> Verdict:
    """Return the verdict on a topic config; cached, as all topics have configs with the same few names."""
    if name.startswith(OWN_PREFIX):
        return Verdict(False, f"{OWN_PREFIX}* is this cluster's own")
    found = _first_match(excluded, name)
    if found is not None:
        return Verdict(False, f"{EXCLUDED_CONFIGS}={found}")
    return Verdict(True, f"no entry of {EXCLUDED_CONFIGS} matches")


def _first_match(patterns: Iterable[str], name: str) -> str | None:
    return next((pattern for pattern in patterns if compile_java(pattern).fullmatch(name)), None)
