"""Config keys of transactions and producer ids."""

from __future__ import annotations

from kmirror.spec.configs.key import NOT_READ, ConfigKey, Kind, Scope

_B = Scope.BROKER

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "producer.id.expiration.ms", _B, Kind.INT, "86400000", "Idle time after which a producer id is removed.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.check.interval.ms", _B, Kind.INT, "600000", "How often idle producer ids are removed.",
        1, internal=True,
    ),
    ConfigKey("transaction.state.log.num.partitions", _B, Kind.INT, "50", "Partitions of __transaction_state.", 1),
    ConfigKey("transaction.state.log.replication.factor", _B, Kind.SHORT, "3", "Replicas of __transaction_state.", 1),
    ConfigKey("transaction.state.log.min.isr", _B, Kind.INT, "2", "min.insync.replicas of __transaction_state.", 1),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.ms", _B, Kind.INT, "20",
        "Backoff before a partition is added again to a transaction whose predecessor is still completing.", 1,
    ),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.max.ms", _B, Kind.INT, "100",
        "How long a leader retries to add a partition to a transaction; at most `request.timeout.ms`.", 0,
    ),
    ConfigKey("transaction.max.timeout.ms", _B, Kind.INT, "900000", "Longest transaction timeout accepted.", 1),
    ConfigKey(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", _B, Kind.INT, "10000",
        "How often timed-out transactions are aborted.", 1,
    ),
    ConfigKey(
        "transaction.partition.verification.enable", _B, Kind.BOOLEAN, "true",
        "Whether a leader verifies with the coordinator that a transaction is open before it appends the first batch.",
        dynamic=True,
    ),
    ConfigKey(
        "transaction.remove.expired.transaction.cleanup.interval.ms", _B, Kind.INT, "3600000",
        "How often transactional ids that have expired are removed.", 1,
    ),
    ConfigKey("transaction.state.log.load.buffer.size", _B, Kind.INT, "5242880", minimum=1, no_effect=NOT_READ),
    ConfigKey("transaction.state.log.segment.bytes", _B, Kind.INT, "104857600", minimum=1, no_effect=NOT_READ),
    ConfigKey("transaction.two.phase.commit.enable", _B, Kind.BOOLEAN, "false", no_effect=NOT_READ),
    ConfigKey(
        "transactional.id.expiration.ms", _B, Kind.INT, "604800000",
        "Time from the last change of a transactional id without an open transaction to its removal.", 1,
    ),
)
# fmt: on
