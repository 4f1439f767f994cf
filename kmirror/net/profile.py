"""What is set on the brokers that `kmirror serve` starts? What a freshly formatted Kafka 4.3.1 of one broker has.

What its `config/server.properties` says besides its defaults; what it does not say has Kafka's default here as well.
"""

from __future__ import annotations

from kmirror.spec.configs import Scope, known

INTERNAL_PARTITIONS = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "mirror.topic.num.partitions": "5",
}
GROUPS = {"group.initial.rebalance.delay.ms": "0"}


def served_configs() -> dict[str, str]:
    """Return the static configs of a served broker, under those of a properties file."""
    wanted = {**INTERNAL_PARTITIONS, **GROUPS}
    return {name: value for name, value in wanted.items() if name in known(Scope.BROKER)}
