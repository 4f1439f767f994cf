"""Grafana dashboard for operators of mirrors, generated from the rows of metrics.

`docs/grafana-dashboard.json` has the result of `dashboard()`. Every query refers to a metric by its row, so no query
can use a metric that does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kmirror.spec.metrics import CLIENT, CLIENT_TAGS, row

UID = "kmirror-mirrors"
ALL_MIRRORS = ".+"
"""Matches only series with the label: for Prometheus a missing label is empty, and `.*` would also match series of
followers with the same names.
"""
WIDTH, HEIGHT = 8, 8
_PER_ROW = 3
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_FETCHER = ("clientId", "brokerHost", "brokerPort", "mirror-name")
ERRORS = ("MetadataRefreshError", "TopicConfigMetadataSyncError", "ConsumerGroupOffsetSyncError")


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph: its title, Grafana's unit, and queries with their legends."""

    title: str
    unit: str
    queries: Sequence[tuple[str, str]]
    about: str = ""


def _name(type_: str, name: str, *tags: str) -> str:
    return row(type_, name, *tags).page_name


def _client(name: str) -> str:
    return _name(CLIENT, name, *CLIENT_TAGS)


_LAG = _name("FetcherLagMetrics", "ConsumerLag", "clientId", "topic", "partition")
_MAX_LAG = _name("MirrorFetcherManager", "MaxLag", "clientId")
_STATES = _name("MirrorMetadataManager", "MirrorPartitionCount", "mirror-name", "state")
_BYTES = _name("FetcherStats", "BytesPerSec", *_FETCHER)
_FETCHES = _name("FetcherStats", "RequestsPerSec", *_FETCHER)
_THROTTLED = _name("FetcherStats", "ThrottleTimeMs", *_FETCHER)
_REQUEST_ERRORS = _name("RequestMetrics", "ErrorsPerSec", "request", "error")
_REQUESTS = _name("RequestMetrics", "RequestsPerSec", "request", "version")
_TIMES = _name("RequestMetrics", "TotalTimeMs", "request")
_PARTS = ("RequestQueueTimeMs", "LocalTimeMs", "RemoteTimeMs", "ResponseQueueTimeMs", "ResponseSendTimeMs")
_MIRROR = 'mirror_name=~"$mirror"'
_OF_MIRROR = 'clientId=~"MirrorFetcherThread-[0-9]+-[0-9]+-($mirror)"'

PANELS: Sequence[Panel] = (
    Panel(
        "Partitions by state",
        "short",
        [(f"sum by (mirror_name, state) ({_STATES}{{{_MIRROR}}}) > 0", "{{mirror_name}} {{state}}")],
    ),
    Panel(
        "Failed partitions",
        "short",
        [
            (f"sum({_name('MirrorMetadataManager', 'FailedPartitionState')})", "FAILED"),
            (
                f"sum({_name('MirrorFetcherManager', 'FailedPartitionsCount', 'clientId')})",
                "FAILED, rejected or no response",
            ),
            (f"sum({_name('MirrorFetcherManager', 'DeadThreadCount', 'clientId')})", "fetchers that gave up"),
        ],
        "Their reasons: kmirror mirrors --describe.",
    ),
    Panel(
        "Errors of syncs in five minutes",
        "short",
        [(f"sum(increase({_name('MirrorMetadataManager', name)}[5m]))", name) for name in ERRORS],
    ),
    Panel(
        "Largest lag",
        "short",
        [(f"min({_MAX_LAG} < 0) or max({_MAX_LAG})", "records")],
        "Records that a failover would lose in the worst partition; -1 if the lag of a partition is unknown.",
    ),
    Panel("Lag by topic", "short", [(f"topk(10, sum by (topic) ({_LAG}{{{_OF_MIRROR}}} >= 0))", "{{topic}}")]),
    Panel(
        "Lag by partition",
        "short",
        [(f"topk(10, sum by (topic, partition) ({_LAG}{{{_OF_MIRROR}}} >= 0))", "{{topic}}-{{partition}}")],
    ),
    Panel(
        "Bytes a second from the source",
        "Bps",
        [(f"sum by (mirror_name) (rate({_BYTES}{{{_MIRROR}}}[1m]))", "{{mirror_name}}")],
    ),
    Panel(
        "Fetches a second", "reqps", [(f"sum by (mirror_name) (rate({_FETCHES}{{{_MIRROR}}}[1m]))", "{{mirror_name}}")]
    ),
    Panel(
        "Throttles",
        "short",
        [
            (f"sum({_name('MirrorReplication', 'ByteRate')})", "throttled replicas, bytes a second"),
            (
                f"sum by (mirror_name) (rate({_THROTTLED}{{{_MIRROR}}}[1m]))",
                "{{mirror_name}}: ms per second throttled by the source",
            ),
        ],
        "mirror.replication.throttled.rate here, and quotas at the source.",
    ),
    Panel("Requests of mirroring a second", "reqps", [(f"sum by (request) (rate({_REQUESTS}[1m]))", "{{request}}")]),
    Panel(
        "Errors of these requests per second",
        "short",
        [(f'sum by (request, error) (rate({_REQUEST_ERRORS}{{error!="NONE"}}[1m]))', "{{request}} {{error}}")],
    ),
    Panel(
        "Time of these requests, 99th percentile",
        "ms",
        [(f'max by (request) ({_TIMES}{{quantile="0.99"}})', "{{request}}")],
    ),
    Panel(
        "Parts of their time, 99th percentile",
        "ms",
        [(f'max({_name("RequestMetrics", part, "request")}{{quantile="0.99"}})', part) for part in _PARTS],
        "Slowest API; RemoteTimeMs is the time spent waiting for other brokers.",
    ),
    Panel(
        "Connections of fetchers to the source",
        "short",
        [
            (f"sum by (mirror_name) ({_client('connection-count')}{{{_MIRROR}}})", "{{mirror_name}}"),
            (
                f"sum by (mirror_name) (increase({_client('connection-close-total')}{{{_MIRROR}}}[5m]))",
                "{{mirror_name}}: closed in five minutes",
            ),
        ],
    ),
    Panel(
        "Authentications that failed in five minutes",
        "short",
        [
            (
                f"sum by (mirror_name) (increase({_client(name)}{{{_MIRROR}}}[5m]))",
                f"{{{{mirror_name}}}}: {subject}",
            )
            for name, subject in (
                ("failed-authentication-total", "connections"),
                ("failed-reauthentication-total", "sessions to be renewed"),
            )
        ],
        "At the source; the reason of each partition has the cause.",
    ),
    Panel(
        "Under-replicated partitions",
        "short",
        [(f"sum({_name('ReplicaManager', 'UnderReplicatedPartitions')})", "partitions")],
    ),
    Panel(
        "Partitions without a leader",
        "short",
        [(f"max({_name('KafkaController', 'OfflinePartitionsCount')})", "partitions")],
    ),
    Panel(
        "Brokers",
        "short",
        [
            (f"max({_name('KafkaController', name)})", legend)
            for name, legend in (("ActiveBrokerCount", "active"), ("FencedBrokerCount", "fenced"))
        ],
    ),
)


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana's JSON model, with variables for the data source and the mirrors."""
    return {
        "title": "Cluster Mirroring (kmirror)",
        "uid": UID,
        "tags": ["kafka", "kmirror"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [_data_source(), _mirrors()]},
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }


def _data_source() -> dict[str, Any]:
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _mirrors() -> dict[str, Any]:
    return {
        "name": "mirror",
        "label": "Mirror",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": f"label_values({_STATES}, mirror_name)", "refId": "mirrors"},
        "includeAll": True,
        "allValue": ALL_MIRRORS,
        "multi": True,
        "refresh": 2,
        "current": {"text": "All", "value": "$__all"},
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    return {
        "id": number + 1,
        "title": panel.title,
        "description": panel.about,
        "type": "timeseries",
        "datasource": _SOURCE,
        "gridPos": {"x": number % _PER_ROW * WIDTH, "y": number // _PER_ROW * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(panel.queries)
        ],
    }
