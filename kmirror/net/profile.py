"""Configs of the brokers that `kmirror serve` starts: those of a freshly formatted single-broker Kafka 4.3.1.

These are the settings in its `config/server.properties` that differ from Kafka's defaults; all others have the default.
"""

from __future__ import annotations

from typing import Final

SERVED: Final = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "mirror.topic.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
}
"""Static configs of a served broker; a properties file overrides them."""
