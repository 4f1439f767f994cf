"""Context of all parts of a broker: identity, configs, metadata image, disks, outbox, requests to other nodes.

A part takes this context and the parts that it calls, so that its `__init__` shows its dependencies. The context holds
none of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from kmirror.client.requester import OnFrame, OnReply, Requester, Sent
from kmirror.cluster.acl_authorizer import authorizer_of
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.config_entries import BrokerLayers, layers_of
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.metadata.directory import ControllerDirectory
from kmirror.cluster.node import clean_shutdown
from kmirror.errors import KmirrorError, UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.failures import Failures, GaveUp, OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.listeners import Listeners, endpoints_text
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.log.disk import Disk, Disks, OfflineLogDir
from kmirror.log.log_dirs import LogDirs
from kmirror.protocol.message import Message
from kmirror.spec.apis import version_served, versions_disabled, versions_served
from kmirror.spec.configs import LONG_MAX, Configs, broker_configs
from kmirror.spec.features import TRANSACTION_VERSION

_SERVED = versions_served("broker", mirror=True)
_SERVED_WITHOUT_MIRRORS = versions_served("broker", mirror=False)


DeferredWork = Callable[[Instant], None]


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """Startup options of a broker."""

    node_id: int
    cluster_id: str
    listeners: Listeners
    controllers: ControllerDirectory
    configs: Mapping[str, str] = field(default_factory=dict)
    """Static configs, as in a properties file."""
    on_failure: OnFailure = OnFailure.RAISE
    authorizer: Authorizer | None = None
    """Authorizer used instead of the configured one."""
    clock: Callable[[], Instant] | None = None
    """Clock used to measure request processing time; virtual time if None."""


@dataclass(frozen=True, slots=True)
class LogChanged:
    """Fact in the note about a log that was truncated or set aside when it was opened."""

    tp: TopicPartition
    text: str


@dataclass(frozen=True, slots=True)
class LogDirFailed:
    """A broker lost a log directory, and continues with the others."""

    log_dir: str
    reason: str


class BrokerContext:
    """Identity, configs, image, disks and outbox of one broker."""

    def __init__(self, options: BrokerOptions, disks: Disks, rng: Rng) -> None:
        self.options = options
        self.node_id = options.node_id
        self.cluster_id = options.cluster_id
        self.listeners = options.listeners
        self.inter_broker = _inter_broker(options)
        """Listener name that the brokers of this cluster use to connect to each other."""
        self.controllers = options.controllers
        self.configs = broker_configs(options.configs, {})
        """Current configs; each change creates a new object, so do not keep a reference."""
        self._layers: tuple[Configs, BrokerLayers] | None = None
        """Cached (configs, their sources)."""
        self.image = MetadataImage()
        log_dirs, self.clean_epochs = _remove_clean_files(disks)
        self.log_dirs = LogDirs(log_dirs, options.configs.get("metadata.log.dir"))
        self.previous_epoch = _common_epoch(self.log_dirs, self.clean_epochs)
        """Broker epoch of the last clean shutdown if all log directories have it; else None."""
        self.rng = rng
        self.authorizer = authorizer_of(self.configs, self.image, options.authorizer)
        self.outbox = Outbox()
        self.failures = Failures(self.outbox, options.on_failure)
        self.disk_jobs = DiskJobs(self.outbox)
        self.requester = Requester(f"broker-{options.node_id}", self.outbox, self.failures)
        self.disk_error: OSError | KmirrorError | None = None
        """Error that prevents the broker from continuing; it hands over its leaderships and stops."""
        self.in_session_until: Instant = 0
        """Time until which the controller cannot have fenced this broker and elected other leaders in its place."""
        self.newly_failed_dirs: dict[str, None] = {}
        """Log directories that failed since the broker last took partitions offline."""
        self._deferred: dict[DeferredWork, None] = {}

    def fail_disk(self, disk: Disk | None, operation: str, error: OSError | KmirrorError) -> None:
        """Take a log directory offline after an I/O error in `operation`; `disk` is None if it is offline already.

        Like Kafka's, a broker stops if its last log directory fails, or the one of its metadata log. That directory
        stays online until then, so that leaderships can be handed over with the data that is still readable.
        """
        reason = f"{operation}: {error}"
        if disk is None or disk not in self.log_dirs.online:
            self.outbox.note(reason)
        elif self.log_dirs.is_needed(disk):
            self.stop_on_error(reason, error)
        else:
            self.log_dirs.fail(disk, reason)
            self.newly_failed_dirs[disk.log_dir] = None
            self.outbox.note(f"log directory {disk.log_dir} is offline: {reason}", LogDirFailed(disk.log_dir, reason))

    def fail_disk_of(self, tp: TopicPartition, operation: str, error: OSError | KmirrorError) -> None:
        """Take the log directory of a partition offline after an I/O error in `operation`."""
        self.fail_disk(self.log_dirs.find(tp), f"{operation} {tp}", error)

    def stop_on_error(self, reason: str, error: OSError | KmirrorError) -> None:
        """Shut the broker down in an orderly way because of a disk error."""
        self.outbox.note(reason, None if self.disk_error else GaveUp(reason))
        self.disk_error = self.disk_error or error

    def defer(self, work: DeferredWork) -> None:
        """Run `work` at the end of the current event, after everything that follows from it; duplicates are merged.

        So the needs of many partitions in one event become one request or one batch.
        """
        self._deferred[work] = None

    def run_deferred(self, now: Instant) -> bool:
        """Run the work added since the last call, in order; return whether there was any."""
        if not self._deferred:
            return False
        deferred, self._deferred = self._deferred, {}
        for work in deferred:
            try:
                work(now)
            except Exception as failure:  # The other work must still be done.
                self.failures.report("the end of an event", failure)
        return True

    def apply_configs(self) -> None:
        """Apply this broker's dynamic configs from the image."""
        self.configs = broker_configs(self.options.configs, self.image.configs.broker(self.node_id))

    def config_layers(self) -> BrokerLayers:
        """Return the configs of this broker by source; its identity and listeners count as set."""
        if self._layers is None or self._layers[0] is not self.configs:
            self._layers = self.configs, self._new_layers()
        return self._layers[1]

    def _new_layers(self) -> BrokerLayers:
        own_configs = {
            "log.dirs": ",".join(self.log_dirs.names),
            "node.id": str(self.node_id),
            "broker.id": str(self.node_id),
            "listeners": endpoints_text({each.name: each.endpoint for each in self.listeners}),
            "advertised.listeners": endpoints_text({each.name: each.advertised for each in self.listeners}),
        }
        if any(each.name != each.protocol.name for each in self.listeners):
            pairs = (f"{each.name}:{each.protocol.name}" for each in self.listeners)
            own_configs["listener.security.protocol.map"] = ",".join(pairs)
        return layers_of(self.image, self.node_id, {**own_configs, **self.options.configs})

    def ask_controller(
        self,
        now: Instant,
        request: Message,
        on_reply: OnReply,
        *,
        channel: str = "controller",
        within_ms: int = LONG_MAX,
        on_frame: OnFrame | None = None,
    ) -> Sent:
        """Send a request to the active controller; requests of one channel are answered in order.

        `on_reply` gets None if there is no response within `request.timeout.ms`, or `within_ms` if that is less.
        `on_frame` and the return value are those of `Requester.send`.
        """
        return self.requester.send(
            now,
            self.controllers.leader,
            channel,
            request,
            self.version_of(request),
            on_reply,
            timeout_ms=min(self.configs.integer("request.timeout.ms"), within_ms),
            on_frame=on_frame,
        )

    def ask_broker(
        self,
        now: Instant,
        broker_id: int,
        channel: str,
        request: Message,
        on_reply: OnReply,
        *,
        client_id: str | None = None,
    ) -> bool:
        """Send a request to another broker of this cluster; return False, without calling `on_reply`, if it is not
        alive.

        Without a `client_id` the request has the broker's.
        """
        endpoint = self.peer(broker_id)
        if endpoint is None:
            return False
        self.requester.send(
            now,
            endpoint,
            channel,
            request,
            self.version_of(request),
            on_reply,
            timeout_ms=self.configs.integer("request.timeout.ms"),
            client_id=client_id,
        )
        return True

    def peer(self, broker_id: int) -> Endpoint | None:
        """Return the endpoint of a broker for inter-broker requests; None if it is not alive."""
        return self.image.brokers.endpoint(broker_id, self.inter_broker)

    @property
    def mirror_enabled(self) -> bool:
        """Return whether feature mirror.version is at 1 or above (D1)."""
        return self.image.features.has_mirrors

    @property
    def transaction_version(self) -> int:
        """Return the level of feature transaction.version, 0 if the cluster has none."""
        return self.image.features.get(TRANSACTION_VERSION, 0)

    def api_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return the versions that this broker currently serves: api key to (first, last) version."""
        return _SERVED if self.image.features.has_mirrors else _SERVED_WITHOUT_MIRRORS

    def disabled_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return the disabled versions, which get UNSUPPORTED_VERSION (D1): api key to (first, last) version."""
        return versions_disabled("broker", mirror=self.mirror_enabled)

    def version_of(self, request: Message) -> int:
        """Return the version in which this cluster's nodes send `request` to each other."""
        return _version_of(request.API_KEY, self.mirror_enabled)


def _remove_clean_files(disks: Disks) -> tuple[Disks, dict[str, int]]:
    """Return the log directories, unreadable ones as offline, and the epochs of their last clean shutdown, by name."""
    log_dirs: list[Disk | OfflineLogDir] = []
    epochs: dict[str, int] = {}
    for each in disks:
        if isinstance(each, OfflineLogDir):
            log_dirs.append(each)
            continue
        try:
            epoch = clean_shutdown.remove(each)
        except OSError as error:
            log_dirs.append(OfflineLogDir(each.log_dir, str(error)))
            continue
        log_dirs.append(each)
        if epoch is not None:
            epochs[each.log_dir] = epoch
    return log_dirs, epochs


def _inter_broker(options: BrokerOptions) -> str:
    """Return the inter-broker listener's name: the configured one, the one named like its protocol, or the first.

    Raises UsageError if this broker does not have the configured listener.
    """
    configs = broker_configs(options.configs, {})
    names = [each.name for each in options.listeners]
    configured = configs.text("inter.broker.listener.name")
    if configured and configured not in names:
        raise UsageError(f"inter.broker.listener.name is {configured}, and the listeners are {', '.join(names)}")
    by_protocol = configs.text("security.inter.broker.protocol")
    return configured or (by_protocol if by_protocol in names else names[0])


def _common_epoch(log_dirs: LogDirs, epochs: Mapping[str, int]) -> int | None:
    """Return the epoch that all log directories have; None if one is offline, has none, or has a different one."""
    first, *others = [epochs.get(name) for name in log_dirs.names]
    return first if all(other == first for other in others) else None


@cache
def _version_of(api_key: int | None, mirror: bool) -> int:
    assert api_key is not None, "a request has a key"
    return version_served(api_key, mirror=mirror)
