"""What is set on the brokers that `kmirror serve` starts? What a freshly formatted Kafka 4.3.1 of one broker has.

What its `config/server.properties` says besides its defaults; what it does not say has Kafka's default here as well.
"""

from __future__ import annotations

from typing import Final

SERVED: Final = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "mirror.topic.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
}
"""Static configs of a served broker; a properties file goes before them."""
