"""Config keys of identity and liveness of a node."""

from __future__ import annotations

from kmirror.spec.configs.key import NOT_READ, SET_AT_START, ConfigKey, Kind, Scope

_B = Scope.BROKER

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey("broker.heartbeat.interval.ms", _B, Kind.INT, "2000", "How often a broker reports to the controller.", 1),
    ConfigKey("broker.session.timeout.ms", _B, Kind.INT, "9000", "Silence after which a broker is fenced.", 1),
    ConfigKey("broker.rack", _B, Kind.STRING, None, "The rack of the broker, sent to clients (KIP-392)."),
    ConfigKey("broker.id", _B, Kind.INT, "-1", no_effect=SET_AT_START),
    ConfigKey("node.id", _B, Kind.INT, None, minimum=0, no_effect=SET_AT_START),
    ConfigKey("advertised.listeners", _B, Kind.LIST, None, no_effect=SET_AT_START),
    ConfigKey("listeners", _B, Kind.LIST, "PLAINTEXT://:9092", dynamic=True, no_effect=SET_AT_START),
    ConfigKey(
        "listener.security.protocol.map", _B, Kind.STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", dynamic=True,
        no_effect=SET_AT_START,
    ),
    ConfigKey("controller.listener.names", _B, Kind.LIST, None, no_effect=SET_AT_START),
    ConfigKey("process.roles", _B, Kind.LIST, None, choices=("broker", "controller"), no_effect=SET_AT_START),
    ConfigKey("controlled.shutdown.enable", _B, Kind.BOOLEAN, "true", no_effect=NOT_READ),
)
# fmt: on
