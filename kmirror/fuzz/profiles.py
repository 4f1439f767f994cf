"""Profiles of a stream: weights of its messages, values and mutations.

A profile adds nothing new: its frames come from the same grammar and the same mutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kmirror.errors import UsageError, did_you_mean
from kmirror.fuzz.mutations import MUTATIONS, table
from kmirror.fuzz.stream import Source, Stream
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key

DEFAULT = "arbitrary"


@dataclass(frozen=True)
class Profile:
    """A row: the differences from the default profile."""

    name: str
    about: str
    apis: tuple[str, ...] = ()
    """APIs whose messages have weight `API_WEIGHT` where a target takes them; others have 1. Empty: all alike."""
    has_others: bool = True
    """Whether messages of other APIs, and of no API, are included."""
    mutations: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Factors by mutation name, 0 for never; 1 for names that are absent."""
    valid_share: float = 0.0
    """Share of a block's frames after the first that are new valid frames, from 0 to 1."""
    value_share: float | None = None
    """Share of values that are meaningful to the target, from 0 to 1; None for the target's default."""


API_WEIGHT = 8
_GROUPS = (
    "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "OffsetDelete",
    "FindCoordinator", "DescribeGroups", "ListGroups", "DeleteGroups", "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
)  # fmt: skip
_TRANSACTIONS = (
    "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "WriteTxnMarkers",
    "Produce", "DescribeTransactions", "ListTransactions", "DescribeProducers",
)  # fmt: skip
_MIRRORS = (
    "CreateMirror", "AddTopicsToMirror", "RemoveTopicsFromMirror", "PauseMirrorTopics", "ResumeMirrorTopics",
    "DeleteMirror", "ListMirrors", "DescribeMirrors", "ReadMirrorStates", "WriteMirrorStates", "BumpLeaderEpochs",
)  # fmt: skip
_ADMIN = (
    "CreateTopics", "DeleteTopics", "CreatePartitions", "DeleteRecords", "DescribeConfigs", "AlterConfigs",
    "IncrementalAlterConfigs", "UpdateFeatures", "DescribeLogDirs", "DescribeCluster", "DescribeTopicPartitions",
)  # fmt: skip
_EXTREMES = (
    "below null", "the least", "the greatest", "all that is left", "one more than is left", "much more than is left",
    "varint made longer", "varint without end", "more than 32 bits", "very many tags", "very long tag", "tag twice",
    "tag of negative length", "broken UTF-8", "another number",
)  # fmt: skip
_UNREALISTIC = (
    "the least", "the greatest", "much more than is left", "varint without end", "more than 32 bits", "very many tags",
    "very long tag", "tag of negative length", "cut before", "cut inside", "a bit", "noise", "bytes put before",
)  # fmt: skip

PROFILES: tuple[Profile, ...] = (
    Profile(DEFAULT, "every message as often as any other, one valid frame in thirty-two"),
    Profile(
        "realistic",
        "half of the frames are valid, values have a meaning, faults are those that programs make",
        mutations=MappingProxyType(dict.fromkeys(_UNREALISTIC, 0)),
        valid_share=0.5,
        value_share=1.0,
    ),
    Profile(
        "hostile",
        "lengths, counts, tags and numbers at their extremes",
        mutations=MappingProxyType(dict.fromkeys(_EXTREMES, 10)),
        value_share=0.5,
    ),
    Profile("produce", "writing: records of all kinds, with and without transactions", ("Produce", "InitProducerId")),
    Profile("consume", "reading", ("Fetch", "ListOffsets", "OffsetForLeaderEpoch", "Metadata")),
    Profile("groups", "only consumer groups and their offsets", _GROUPS, False),
    Profile("transactions", "only transactions", _TRANSACTIONS, False),
    Profile("mirror", "only cluster mirroring (KIP-1279)", _MIRRORS, False),
    Profile("admin", "only administration of a cluster", _ADMIN, False),
)


def with_profile(source: Source, name: str) -> Source:
    """Return the stream with a profile; raises `UsageError` for an unknown profile, or a stream without messages."""
    rows = {row.name: row for row in PROFILES}
    profile = rows.get(name)
    if profile is None:
        hint = did_you_mean(name, rows)
        raise UsageError(f"unknown profile {name!r}" + (f"; {hint}" if hint else f": {', '.join(rows)}"))
    if name == DEFAULT:
        return source
    if not isinstance(source, Stream):
        raise UsageError(f"the profile {name} needs a target that takes messages")
    vocabulary = source.vocabulary
    if profile.value_share is not None:
        vocabulary = replace(vocabulary, share=profile.value_share)
    factors = {row.name: profile.mutations.get(row.name, 1) for row in MUTATIONS}
    return replace(
        source,
        messages=_apply_weights(profile, source.messages),
        vocabulary=vocabulary,
        mutations=table(factors),
        valid_share=profile.valid_share,
    )


def _apply_weights(profile: Profile, messages: tuple[type[Message], ...]) -> tuple[type[Message], ...]:
    """Return the messages, each repeated by its weight; raises `UsageError` if none is left."""
    if not profile.apis:
        return messages
    found: list[type[Message]] = []
    for message in messages:
        api = (
            None
            if message.API_KEY is None or message.TYPE not in ("request", "response")
            else find_key(message.API_KEY)
        )
        if api is not None and api.name in profile.apis:
            found += [message] * API_WEIGHT
        elif profile.has_others:
            found.append(message)
    if not found:
        raise UsageError(f"the profile {profile.name} has none of the messages of this target")
    return tuple(found)
