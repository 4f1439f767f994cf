"""Requests for a broker: about a small world that it knows, valid and broken, with their headers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from types import MappingProxyType

from kmirror.fuzz.batches import assemble, draw_batch
from kmirror.fuzz.stream import Stream
from kmirror.fuzz.vocabulary import Vocabulary
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_api_name
from kmirror.spec.apis import ROWS

TOPIC = "fuzz"
PARTITIONS = 2
GROUPS = ("group", "other")
_BATCHES = 24
# These stop the broker or lock the fuzzer out.
_HARMFUL_APIS = ("ControlledShutdown", "StopReplica", "UnregisterBroker")

_WORDS = MappingProxyType(
    {
        "topicName": (TOPIC, TOPIC, "fuzz-new", "fuzz-newer", "__consumer_offsets", "no topic", "", "x" * 250),
        "groupId": (GROUPS[0], *GROUPS, ""),
        "transactionalId": ("transaction", "transaction", "other", ""),
        "mirror_name": ("mirror", "other", ""),
        "mirror_names": ("mirror",),
        "protocol_type": ("consumer", "consumer", ""),
        "member_id": ("", "", "member-1"),
        "resource_name": (TOPIC, "1", "mirror", ""),
        # Mostly the name of a config: two of them are real, and half of the values fit them.
        "name": ("retention.ms", "cleanup.policy", "retention.ms", "fuzz"),
        "value": ("1000", "compact", "60000", ""),
        "client_id": ("fuzz",),
        "client_software_name": ("kmirror-fuzz",),
        "client_software_version": ("1",),
    }
)
_NUMBERS = MappingProxyType(
    {
        "brokerId": (1, 1, 1, 0, 2),
        "producerId": (0, 1, 2, -1),
        "partition": (0, 0, 1, 2),
        # With -1 in both, assignments may be given, or the broker's defaults apply.
        "num_partitions": (-1, -1, 1, 2),
        "replication_factor": (-1, -1, 1),
        "acks": (-1, 1, -1, 0),
        "replica_id": (-1, -1, -1, 1),
        "resource_type": (2, 4, 64, 2),
        "max_wait_ms": (0, 0, 10),
        "timeout_ms": (1_000, 100),
        "session_timeout_ms": (10_000, 6_000),
        "rebalance_timeout_ms": (10_000, 1_000),
        "max_bytes": (1 << 20, 1, 0),
        "partition_max_bytes": (1 << 20, 1),
        "min_bytes": (0, 1),
        "key_type": (0, 1, 3, 2),
    }
)


def broker_requests(names: Sequence[str] = ()) -> tuple[type[Message], ...]:
    """Return the request classes of these API names; all that our broker serves, if `names` is empty."""
    if names:
        return tuple(by_api_name(name.removesuffix("Request")).request for name in names)
    return tuple(
        by_api_name(row.name).request for row in ROWS if "broker" in row.roles and row.name not in _HARMFUL_APIS
    )


def cluster_vocabulary(topic_ids: Sequence[Uuid] = ()) -> Vocabulary:
    """Return the vocabulary of a cluster with the topic `TOPIC` and one broker, 1."""
    return Vocabulary(0.9, _WORDS, (*topic_ids, Uuid.ZERO), _NUMBERS)


def requests(seed: int, names: Sequence[str] = (), topic_ids: Sequence[Uuid] = ()) -> Stream:
    """Return the requests of a seed."""
    random = Random(f"{seed}/records").random
    batches = tuple(bytes(assemble(draw_batch(random))) for _ in range(_BATCHES))
    return Stream(seed, broker_requests(names), cluster_vocabulary(topic_ids), batches, has_headers=True)
