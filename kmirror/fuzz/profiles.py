"""How often does a stream have which message, which values, and which faults? One row for each profile.

A profile weighs, and invents nothing: its frames are of the same grammar, broken by the same mutations.
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
    """A row: what weighs more than in the default profile, or less."""

    name: str
    about: str
    apis: tuple[str, ...] = ()
    """APIs whose messages weigh `API_WEIGHT`, where a target is given them; others weigh one. None weigh alike."""
    has_others: bool = True
    """Whether messages of other APIs, and of none, come at all."""
    mutations: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Factors by the name of a mutation, 0 for never; 1 for all that are not named."""
    valid_share: float = 0.0
    """How many of the frames behind the first of a block are valid, each another one; from 0 to 1."""
    value_share: float | None = None
    """How often a value is one that means something to the target, from 0 to 1; None for what the target has."""


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
_SENSELESS = (
    "the least", "the greatest", "much more than is left", "varint without end", "more than 32 bits", "very many tags",
    "very long tag", "tag of negative length", "cut before", "cut inside", "a bit", "noise", "bytes put before",
)  # fmt: skip

PROFILES: tuple[Profile, ...] = (
    Profile(DEFAULT, "every message as often as any other, one valid frame in thirty-two"),
    Profile(
        "realistic",
        "half of the frames valid, values that mean something, faults that programs make",
        mutations=MappingProxyType(dict.fromkeys(_SENSELESS, 0)),
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
    Profile("groups", "consumer groups and their offsets, nothing else", _GROUPS, False),
    Profile("transactions", "transactions, nothing else", _TRANSACTIONS, False),
    Profile("mirror", "cluster mirroring (KIP-1279), nothing else", _MIRRORS, False),
    Profile("admin", "orders to a cluster, nothing else", _ADMIN, False),
)


def profiled(source: Source, name: str) -> Source:
    """Return the stream as a profile has it; raises `UsageError` for a stream, or a profile, of which there is none."""
    rows = {row.name: row for row in PROFILES}
    profile = rows.get(name)
    if profile is None:
        hint = did_you_mean(name, rows)
        raise UsageError(f"no profile is named {name!r}" + (f"; {hint}" if hint else f": {', '.join(rows)}"))
    if name == DEFAULT:
        return source
    if not isinstance(source, Stream):
        raise UsageError(f"the profile {name} is for targets that are given messages")
    vocabulary = source.vocabulary
    if profile.value_share is not None:
        vocabulary = replace(vocabulary, share=profile.value_share)
    factors = {row.name: profile.mutations.get(row.name, 1) for row in MUTATIONS}
    return replace(
        source,
        messages=_weighed(profile, source.messages),
        vocabulary=vocabulary,
        mutations=table(factors),
        valid_share=profile.valid_share,
    )


def _weighed(profile: Profile, messages: tuple[type[Message], ...]) -> tuple[type[Message], ...]:
    """Return the messages, each as often as it weighs; raises `UsageError` if none is left."""
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
        raise UsageError(f"the profile {profile.name} has none of the messages that the target is given")
    return tuple(found)
