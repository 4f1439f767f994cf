"""Config keys of metrics and client telemetry."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
_METRICS = "kmirror exports its metrics in another way"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey("kafka.metrics.polling.interval.secs", _B, Kind.INT, "10", minimum=1, no_effect=_METRICS),
    ConfigKey("kafka.metrics.reporters", _B, Kind.LIST, "", no_effect=_METRICS),
    ConfigKey(
        "metric.reporters", _B, Kind.LIST, "org.apache.kafka.common.metrics.JmxReporter", dynamic=True,
        no_effect=_METRICS,
    ),
    ConfigKey("metrics.num.samples", _B, Kind.INT, "2", minimum=1, no_effect=_METRICS),
    ConfigKey("metrics.recording.level", _B, Kind.STRING, "INFO", no_effect=_METRICS),
    ConfigKey("metrics.sample.window.ms", _B, Kind.LONG, "30000", minimum=1, no_effect=_METRICS),
    ConfigKey("telemetry.max.bytes", _B, Kind.INT, "1048576", minimum=1, no_effect=_METRICS),
)
# fmt: on
