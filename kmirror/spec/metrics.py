"""Metrics of nodes: one row each, with Kafka's name and tags, and the meaning of the value.

Names are those of KIP-1279's table, with its slips corrected: MinFetchRate and MetadataRefreshError have their own
names, FailedPartitionsCount and ConsumerLag are in the groups of their neighbours. `mbean` is the JMX name of a row;
the name on a page for Prometheus follows the usual rules of its JMX exporter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kmirror.spec.apis import ROWS as API_ROWS

KIP = "KIP-1279"
KAFKA = "Kafka"
KMIRROR = "kmirror"


class Kind(Enum):
    """The kinds of metrics."""

    GAUGE = "gauge"
    """A present value."""
    COUNT = "count"
    """The number of events since the node started; a gauge in Kafka."""
    TOTAL = "total"
    """The same, for metrics whose name in Kafka says that they only grow."""
    METER = "meter"
    """The number of events, and their recent rate per second."""
    HISTOGRAM = "histogram"
    """The number of events, their mean and quantiles."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric."""

    group: str
    type: str
    """May have names of tags in braces."""
    name: str
    kind: Kind
    unit: str
    about: str
    tags: Sequence[str] = ()
    """The tags that distinguish its samples, in the order of the MBean's name; those that are only in its type come
    last."""
    in_type: int = 0
    """The number of tags that are only in the type."""
    origin: str = KIP
    """The origin of the name."""
    is_attribute: bool = False
    """The MBean has no name, and this is one of its attributes."""
    omission_reason: str = ""
    """Why no node reports it; empty if nodes report it."""

    def mbean(self, values: Sequence[str] | None = None) -> str:
        """Return the name of the MBean; without `values` the tags are wildcards."""
        tags = dict(zip(self.tags, values or ["*"] * len(self.tags), strict=True))
        name = () if self.is_attribute else (("name", self.name),)
        own = list(tags.items())[: len(tags) - self.in_type]
        keys = (("type", self.type.format_map(tags)), *name, *own)
        return f"{self.group}:" + ",".join(f"{key}={value}" for key, value in keys)

    @property
    def page_name(self) -> str:
        """Its name on a page for Prometheus: group, type and name in lower case; a meter's is its count.

        A tag in the type is a label of the page, and no part of the name.
        """
        name = f"{self.name.removesuffix('PerSec')}_total" if self.kind is Kind.METER else self.name
        type_ = self.type.format_map(dict.fromkeys(self.tags, "")).replace("--", "-")
        return f"{self.group}_{type_}_{name}".replace(".", "_").replace("-", "_").lower()


_SERVER, _MIRROR, _NETWORK, _CONTROLLER = "kafka.server", "kafka.server.mirror", "kafka.network", "kafka.controller"
_REPLICA = ("clientId",)
REPLICA_CLIENT = "MirrorReplica"
_FETCHER = ("clientId", "brokerHost", "brokerPort", "mirror-name")
_FOLLOWER = ("clientId", "brokerHost", "brokerPort")
CLIENT_TAGS = ("broker-id", "fetcher-id", "node-id", "mirror-name")
CLIENT = "mirror-broker-{node-id}-fetcher-{fetcher-id}-mirror-{mirror-name}-metrics"
"""The type of the metrics of a mirror fetcher's connections: `node-id` is the destination's broker (D19), `broker-id`
the source's. Only these two and `fetcher-id` are in the MBean's name."""
_NOT_CONVERTED = "Kafka reports it for Fetch and Produce only: mirroring converts no records"

# fmt: off
ROWS: tuple[MetricRow, ...] = (
    MetricRow(_MIRROR, "MirrorFetcherManager", "MaxLag", Kind.GAUGE, "records",
              "Largest lag of a partition that this broker mirrors; -1 while the lag of any is unknown.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "MinFetchRate", Kind.GAUGE, "fetches a second",
              "Fetches of the slowest fetcher with partitions, over one minute.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "DeadThreadCount", Kind.GAUGE, "fetchers",
              "Fetchers that stopped because their source is too old.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "FailedPartitionsCount", Kind.GAUGE, "partitions",
              "Partitions that are FAILED, that the source rejects, or whose leader there does not respond.", _REPLICA),
    MetricRow(_SERVER, "FetcherLagMetrics", "ConsumerLag", Kind.GAUGE, "records",
              "The source's high watermark minus the log end offset here, including open transactions; -1 if unknown.",
              ("clientId", "topic", "partition")),
    MetricRow(_SERVER, "FetcherStats", "BytesPerSec", Kind.METER, "bytes",
              "Bytes of records that a mirror fetcher received.", _FETCHER),
    MetricRow(_SERVER, "FetcherStats", "RequestsPerSec", Kind.METER, "fetches",
              "Fetches of a mirror fetcher that the source answered.", _FETCHER),
    MetricRow(_SERVER, "FetcherStats", "ThrottleTimeMs", Kind.COUNT, "ms",
              "Throttle time that the source's quotas required since the fetcher began.", _FETCHER, origin=KMIRROR),
    MetricRow(_SERVER, "FetcherStats", "BytesPerSec", Kind.METER, "bytes",
              "Bytes of records that a follower received.", _FOLLOWER, origin=KAFKA),
    MetricRow(_SERVER, "FetcherStats", "RequestsPerSec", Kind.METER, "fetches",
              "Fetches of a follower that its leader answered.", _FOLLOWER, origin=KAFKA),
    MetricRow(_NETWORK, "RequestMetrics", "RequestsPerSec", Kind.METER, "requests",
              "Requests of KIP-1279's APIs.", ("request", "version")),
    MetricRow(_NETWORK, "RequestMetrics", "ErrorsPerSec", Kind.METER, "errors",
              "Error codes in responses of those APIs; as in Kafka, NONE counts as well.", ("request", "error")),
    MetricRow(_NETWORK, "RequestMetrics", "RequestBytes", Kind.HISTOGRAM, "bytes",
              "Size of their requests.", ("request",)),
    *(MetricRow(_NETWORK, "RequestMetrics", name, Kind.HISTOGRAM, "ms", about, ("request",))
      for name, about in (
          ("TotalTimeMs", "Time from the request to the end of its response; the five below are its parts."),
          ("RequestQueueTimeMs", "Time until processing began, after earlier requests of its link."),
          ("LocalTimeMs", "Processing time of the node; 0 in the simulator."),
          ("RemoteTimeMs", "Time spent waiting for the controller, other brokers and disks."),
          ("ResponseQueueTimeMs", "Time from the response to the start of writing it."),
          ("ResponseSendTimeMs", "Time to write the response to the operating system."),
      )),
    *(MetricRow(_NETWORK, "RequestMetrics", name, Kind.HISTOGRAM, unit, about, ("request",),
                omission_reason=_NOT_CONVERTED)
      for name, unit, about in (
          ("MessageConversionsTimeMs", "ms", "Time to convert records."),
          ("TemporaryMemoryBytes", "bytes", "Memory for conversions."),
      )),
    *(MetricRow(_SERVER, CLIENT, name, kind, unit, about, CLIENT_TAGS, in_type=2, is_attribute=True)
      for of, unit, about in (
          ("connection-creation", "connections", "Created connections."),
          ("connection-close", "connections", "Closed connections."),
          ("successful-authentication", "connections", "Connections that the source authenticated, by SASL or TLS."),
          ("failed-authentication", "connections", "Connections on which authentication failed, on either side."),
          ("successful-reauthentication", "times", "SASL sessions that were renewed on their connection."),
          ("failed-reauthentication", "times", "SASL sessions that could not be renewed."),
          ("network-io", "calls", "System calls that read or wrote bytes; none between nodes of one process."),
          ("select", "times", "Wake-ups because bytes can be read or written."),
          ("outgoing-byte", "bytes", "Bytes of requests, including length prefixes."),
          ("incoming-byte", "bytes", "Bytes of responses, including length prefixes."),
          ("request", "requests", "Sent requests, except those for authentication."),
          ("response", "responses", "Received responses."),
      )
      for name, kind, unit in ((f"{of}-rate", Kind.GAUGE, f"{unit} a second"), (f"{of}-total", Kind.TOTAL, unit))),
    *(MetricRow(_SERVER, CLIENT, name, kind, unit, about, CLIENT_TAGS, in_type=2, is_attribute=True)
      for name, kind, unit, about in (
          ("connection-count", Kind.GAUGE, "connections", "Open connections."),
          ("successful-authentication-no-reauth-total", Kind.TOTAL, "connections",
           "Authenticated connections whose client cannot renew a session; as in Kafka, for a client all of them."),
          ("reauthentication-latency-avg", Kind.GAUGE, "ms", "Mean time of recent session renewals."),
          ("reauthentication-latency-max", Kind.GAUGE, "ms", "Longest time of recent session renewals."),
          ("request-size-avg", Kind.GAUGE, "bytes", "Mean size of recent requests."),
          ("request-size-max", Kind.GAUGE, "bytes", "Size of the largest recent request."),
      )),
    MetricRow(_MIRROR, "MirrorMetadataManager", "MetadataRefreshError", Kind.COUNT, "errors",
              "Refreshes that no broker of the source answered, and topics that were rejected or not created."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "TopicConfigMetadataSyncError", Kind.COUNT, "errors",
              "Topics whose configs could not be synced."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "ConsumerGroupOffsetSyncError", Kind.COUNT, "errors",
              "Consumer groups whose offsets could not be synced."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "AclSyncError", Kind.COUNT, "errors",
              "Syncs of ACLs that failed.", omission_reason="ACLs are not synced"),
    *(MetricRow(_MIRROR, "MirrorMetadataManager", f"{state}PartitionState", Kind.GAUGE, "partitions",
                f"Partitions in state {state.upper()} that this broker leads.", origin=origin)
      for state, origin in (("Preparing", KIP), ("Mirroring", KIP), ("Pausing", KMIRROR), ("Paused", KMIRROR),
                            ("Stopping", KIP), ("Stopped", KIP), ("Failed", KIP))),
    MetricRow(_MIRROR, "MirrorMetadataManager", "MirrorPartitionCount", Kind.GAUGE, "partitions",
              "Partitions in each state that this broker leads, per mirror.", ("mirror-name", "state"), origin=KMIRROR),
    MetricRow(_SERVER, "MirrorReplication", "ByteRate", Kind.GAUGE, "bytes a second",
              "Rate at which throttled partitions are mirrored, over the windows of the quota.", is_attribute=True),
    MetricRow(_SERVER, "ReplicaManager", "LeaderCount", Kind.GAUGE, "partitions",
              "Partitions that this broker leads.", origin=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "PartitionCount", Kind.GAUGE, "partitions",
              "Partitions that have a replica on this broker.", origin=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "UnderReplicatedPartitions", Kind.GAUGE, "partitions",
              "Partitions led by this broker that have replicas outside the ISR.", origin=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "OfflineReplicaCount", Kind.GAUGE, "partitions",
              "Replicas of this broker in offline log directories.", origin=KAFKA),
    MetricRow("kafka.log", "LogManager", "OfflineLogDirectoryCount", Kind.GAUGE, "directories",
              "Offline log directories.", origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "ActiveControllerCount", Kind.GAUGE, "controllers",
              "1 on the active controller.", origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "ActiveBrokerCount", Kind.GAUGE, "brokers",
              "Registered brokers that are not fenced.", origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "FencedBrokerCount", Kind.GAUGE, "brokers",
              "Registered brokers that are fenced.", origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "GlobalTopicCount", Kind.GAUGE, "topics", "Topics.", origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "GlobalPartitionCount", Kind.GAUGE, "partitions", "All partitions.",
              origin=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "OfflinePartitionsCount", Kind.GAUGE, "partitions",
              "Partitions without a leader.", origin=KAFKA),
)
# fmt: on


def _key(row: MetricRow) -> tuple[str, str, tuple[str, ...]]:
    return row.type, row.name, tuple(row.tags)


ROWS_BY_KEY: Mapping[tuple[str, str, tuple[str, ...]], MetricRow] = {_key(row): row for row in ROWS}
"""The rows by type, name and tags."""
METERED_APIS: Mapping[int, str] = {row.key: row.name for row in API_ROWS if row.first_mirror_version == row.first}
"""The APIs that KIP-1279 adds, which have RequestMetrics: key to name."""


def row(type_: str, name: str, *tags: str) -> MetricRow:
    """Return the row of a metric; raises KeyError if there is none."""
    return ROWS_BY_KEY[type_, name, tags]
