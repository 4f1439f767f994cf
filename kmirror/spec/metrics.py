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
OWN = "kmirror"


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
    of: str = KIP
    """The origin of the name."""
    is_attribute: bool = False
    """The MBean has no name, and this is one of its attributes."""
    left_out: str = ""
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
_NOT_CONVERTED = "Kafka tells it of Fetch and Produce alone: mirroring converts nothing"

# fmt: off
ROWS: tuple[MetricRow, ...] = (
    MetricRow(_MIRROR, "MirrorFetcherManager", "MaxLag", Kind.GAUGE, "records",
              "The greatest lag of a partition that this broker mirrors; -1 while that of one is unknown.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "MinFetchRate", Kind.GAUGE, "fetches a second",
              "The fetches of the slowest fetcher that has partitions, over one minute.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "DeadThreadCount", Kind.GAUGE, "fetchers",
              "Fetchers that gave up, for their source is too old to be fetched from.", _REPLICA),
    MetricRow(_MIRROR, "MirrorFetcherManager", "FailedPartitionsCount", Kind.GAUGE, "partitions",
              "Partitions that are FAILED, that the source refuses, or whose leader there is silent.", _REPLICA),
    MetricRow(_SERVER, "FetcherLagMetrics", "ConsumerLag", Kind.GAUGE, "records",
              "The source's high watermark less the log end here: open transactions count. -1 while it is unknown.",
              ("clientId", "topic", "partition")),
    MetricRow(_SERVER, "FetcherStats", "BytesPerSec", Kind.METER, "bytes",
              "Bytes of records that a mirror fetcher got.", _FETCHER),
    MetricRow(_SERVER, "FetcherStats", "RequestsPerSec", Kind.METER, "fetches",
              "Fetches of a mirror fetcher that the source answered.", _FETCHER),
    MetricRow(_SERVER, "FetcherStats", "ThrottleTimeMs", Kind.COUNT, "ms",
              "How long the source has wanted no fetch, by its own quotas, since the fetcher began.", _FETCHER, of=OWN),
    MetricRow(_SERVER, "FetcherStats", "BytesPerSec", Kind.METER, "bytes",
              "Bytes of records that a follower got.", _FOLLOWER, of=KAFKA),
    MetricRow(_SERVER, "FetcherStats", "RequestsPerSec", Kind.METER, "fetches",
              "Fetches of a follower that its leader answered.", _FOLLOWER, of=KAFKA),
    MetricRow(_NETWORK, "RequestMetrics", "RequestsPerSec", Kind.METER, "requests",
              "Requests of KIP-1279's APIs.", ("request", "version")),
    MetricRow(_NETWORK, "RequestMetrics", "ErrorsPerSec", Kind.METER, "errors",
              "Error codes in answers of those APIs; as in Kafka NONE is one.", ("request", "error")),
    MetricRow(_NETWORK, "RequestMetrics", "RequestBytes", Kind.HISTOGRAM, "bytes",
              "Size of their requests.", ("request",)),
    *(MetricRow(_NETWORK, "RequestMetrics", name, Kind.HISTOGRAM, "ms", about, ("request",))
      for name, about in (
          ("TotalTimeMs", "From the request to the end of its answer; the five below are its parts."),
          ("RequestQueueTimeMs", "How long it waited: for the one before it on its link, or until the node was ready."),
          ("LocalTimeMs", "How long the node was at work on it; in the simulator that takes no time."),
          ("RemoteTimeMs", "How long others were waited for: the controller, other brokers, disks."),
          ("ResponseQueueTimeMs", "How long the answer waited until it began to be written."),
          ("ResponseSendTimeMs", "How long it was written, until the system had all of it."),
      )),
    *(MetricRow(_NETWORK, "RequestMetrics", name, Kind.HISTOGRAM, unit, about, ("request",), left_out=_NOT_CONVERTED)
      for name, unit, about in (
          ("MessageConversionsTimeMs", "ms", "How long records were converted."),
          ("TemporaryMemoryBytes", "bytes", "Memory for that."),
      )),
    *(MetricRow(_SERVER, CLIENT, name, kind, unit, about, CLIENT_TAGS, in_type=2, is_attribute=True)
      for of, unit, about in (
          ("connection-creation", "connections", "Connections that were made."),
          ("connection-close", "connections", "Connections that ended, by whichever side."),
          ("successful-authentication", "connections", "Connections on which the source knew us, by SASL or TLS."),
          ("failed-authentication", "connections", "Connections on which it did not, or we did not know it."),
          ("successful-reauthentication", "times", "Sessions of SASL that were renewed on their connection."),
          ("failed-reauthentication", "times", "Sessions that could not be renewed."),
          ("network-io", "calls", "Calls of the system that moved bytes; none between nodes of one process."),
          ("select", "times", "How often the system reported that bytes can be moved."),
          ("outgoing-byte", "bytes", "Bytes of requests, with their lengths."),
          ("incoming-byte", "bytes", "Bytes of answers, with their lengths."),
          ("request", "requests", "Requests that were sent, but for those that authenticate."),
          ("response", "answers", "Answers that came."),
      )
      for name, kind, unit in ((f"{of}-rate", Kind.GAUGE, f"{unit} a second"), (f"{of}-total", Kind.TOTAL, unit))),
    *(MetricRow(_SERVER, CLIENT, name, kind, unit, about, CLIENT_TAGS, in_type=2, is_attribute=True)
      for name, kind, unit, about in (
          ("connection-count", Kind.GAUGE, "connections", "Connections that are open."),
          ("successful-authentication-no-reauth-total", Kind.TOTAL, "connections",
           "Of the authenticated ones, those whose client cannot renew a session: for a client Kafka counts all."),
          ("reauthentication-latency-avg", Kind.GAUGE, "ms", "How long renewals of sessions took of late."),
          ("reauthentication-latency-max", Kind.GAUGE, "ms", "How long the longest one took."),
          ("request-size-avg", Kind.GAUGE, "bytes", "Size of requests of late."),
          ("request-size-max", Kind.GAUGE, "bytes", "Size of the largest one."),
      )),
    MetricRow(_MIRROR, "MirrorMetadataManager", "MetadataRefreshError", Kind.COUNT, "errors",
              "Refreshes that no broker of the source answered, topics that it refused or that could not be created."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "TopicConfigMetadataSyncError", Kind.COUNT, "errors",
              "Topics whose configs could not be synced."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "ConsumerGroupOffsetSyncError", Kind.COUNT, "errors",
              "Consumer groups whose offsets could not be synced."),
    MetricRow(_MIRROR, "MirrorMetadataManager", "AclSyncError", Kind.COUNT, "errors",
              "Syncs of ACLs that failed.", left_out="ACLs are not synced"),
    *(MetricRow(_MIRROR, "MirrorMetadataManager", f"{state}PartitionState", Kind.GAUGE, "partitions",
                f"Partitions in state {state.upper()} that this broker leads.", of=of)
      for state, of in (("Preparing", KIP), ("Mirroring", KIP), ("Pausing", OWN), ("Paused", OWN), ("Stopping", KIP),
                        ("Stopped", KIP), ("Failed", KIP))),
    MetricRow(_MIRROR, "MirrorMetadataManager", "MirrorPartitionCount", Kind.GAUGE, "partitions",
              "The same for each mirror.", ("mirror-name", "state"), of=OWN),
    MetricRow(_SERVER, "MirrorReplication", "ByteRate", Kind.GAUGE, "bytes a second",
              "At what rate throttled partitions are mirrored, over the windows of the quota.", is_attribute=True),
    MetricRow(_SERVER, "ReplicaManager", "LeaderCount", Kind.GAUGE, "partitions",
              "Partitions that this broker leads.", of=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "PartitionCount", Kind.GAUGE, "partitions",
              "Partitions that have a replica on this broker.", of=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "UnderReplicatedPartitions", Kind.GAUGE, "partitions",
              "Partitions that this broker leads and that have replicas out of the ISR.", of=KAFKA),
    MetricRow(_SERVER, "ReplicaManager", "OfflineReplicaCount", Kind.GAUGE, "partitions",
              "Replicas of this broker in log directories that are offline.", of=KAFKA),
    MetricRow("kafka.log", "LogManager", "OfflineLogDirectoryCount", Kind.GAUGE, "directories",
              "Log directories that are offline.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "ActiveControllerCount", Kind.GAUGE, "controllers",
              "1 at a controller that decides.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "ActiveBrokerCount", Kind.GAUGE, "brokers",
              "Brokers that are registered and not fenced.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "FencedBrokerCount", Kind.GAUGE, "brokers",
              "Brokers that are registered and fenced.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "GlobalTopicCount", Kind.GAUGE, "topics", "Topics.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "GlobalPartitionCount", Kind.GAUGE, "partitions", "All.", of=KAFKA),
    MetricRow(_CONTROLLER, "KafkaController", "OfflinePartitionsCount", Kind.GAUGE, "partitions",
              "Partitions without a leader.", of=KAFKA),
)
# fmt: on


def _key(row: MetricRow) -> tuple[str, str, tuple[str, ...]]:
    return row.type, row.name, tuple(row.tags)


BY_KEY: Mapping[tuple[str, str, tuple[str, ...]], MetricRow] = {_key(row): row for row in ROWS}
"""The rows by type, name and tags."""
METERED: Mapping[int, str] = {row.key: row.name for row in API_ROWS if row.mirror_from == row.first}
"""The APIs that KIP-1279 adds, which have RequestMetrics: key to name."""


def row(type_: str, name: str, *tags: str) -> MetricRow:
    """Return the row of a metric; raises KeyError if there is none."""
    return BY_KEY[type_, name, tags]
