"""Last versions of requests that have the meaning a client intends; later ones use the same fields differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAMED_TOPICS_LAST: Final[Mapping[str, int]] = {
    "FetchRequest": 12,
    "OffsetCommitRequest": 9,
    "ProduceRequest": 12,
}
"""From the next version on topics are identified by their ids alone (KIP-516)."""

ONE_GROUP_LAST: Final[Mapping[str, int]] = {"OffsetFetchRequest": 7}
"""From the next version on a request has several groups (KIP-709)."""

WITHOUT_MIRRORS_LAST: Final[Mapping[str, int]] = {"DescribeConfigsRequest": 4}
"""The next version is KIP-1279's, or another extension's with the same number."""

TRANSACTIONS_V1_LAST: Final[Mapping[str, int]] = {
    "ProduceRequest": 11,
    "AddPartitionsToTxnRequest": 3,
    "EndTxnRequest": 4,
    "TxnOffsetCommitRequest": 4,
}
"""For clients of a cluster whose transaction.version is below 2 (KIP-890).

In later versions Produce and TxnOffsetCommit add their partitions to the transaction, EndTxn raises the producer epoch,
and only brokers send AddPartitionsToTxn. Kafka's clients have the same limits: in ProduceRequest,
TxnOffsetCommitRequest and EndTxnRequest LAST_STABLE_VERSION_BEFORE_TRANSACTION_V2, in AddPartitionsToTxnRequest
LAST_CLIENT_VERSION.
"""
