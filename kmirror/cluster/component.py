"""Components that plug into a broker: routes, timers and hooks, all optional.

The cluster package does not know its components. A component is called after metadata changes have been applied and
when replication of a partition makes progress. It may reject produce requests, and may report that a partition's log
has another cluster's leader epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from kmirror.cluster.images import Delta
from kmirror.cluster.metrics import Sample
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.server import Routes
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.spec.error_codes import ErrorCode

OnChecked = Callable[[Instant, Mapping[TopicPartition, ErrorCode]], None]
"""(now, errors of the partitions whose offsets may not be committed; the others are left out)"""
CommitCheck = Callable[[Sequence[TopicPartition], OnChecked], None]


C = TypeVar("C", bound="BrokerComponent")


class BrokerComponent:
    """A part of a broker that the cluster package does not know by name; override the methods needed."""

    name = ""
    """First element of the timer keys of this component."""
    guarded_topics: Container[str] | None = None
    """Topics for which `has_foreign_epochs` and `withholds_log` are called, read at each call; None for all topics."""

    def routes(self) -> Routes:
        """Return the handlers of this component by request class."""
        return {}

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        """Hook: the image changed by `delta`; new leaderships are not in effect yet."""

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """Hook: the image changed by `delta`; new leaderships are in effect."""

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Hook: this broker began to lead `tp` in a new leader epoch, or ceased to lead it."""

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Hook: a timer set by this component fired."""

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        """Hook: a follower of a led partition fetched, or the ISR or the high watermark changed."""

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return why a client may not write to `tp` now, or None."""
        return None

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return why a transaction coordinator may not end a transaction in `tp` now, or None."""
        return self.produce_error(tp)

    def has_foreign_epochs(self, partition: Partition) -> bool:
        """Return whether the log of `partition` has leader epochs that this cluster did not assign (D13, D14)."""
        return False

    def may_compact(self, partition: Partition) -> bool:
        """Return whether the cleaner may work on the log of `partition`, which this broker leads."""
        return True

    def withholds_log(self, partition: Partition) -> bool:
        """Return True while it is unknown whether this leader may serve its log (D30).

        A component calls `PartitionChanges.mark_changed` when this begins, unless the image or a config changes at the
        same time, and when this ends: the method is not called in between.
        """
        return False

    def commit_check(self, client_id: str) -> CommitCheck | None:
        """Return a function that checks the offset commits of this client, or None if they need no check."""
        return None

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        """Hook: a follower of a led partition has truncated its log as demanded (D30)."""

    def metrics(self, now: Instant, runner_metrics: RunnerMetrics) -> Iterable[Sample]:
        """Return the metrics of this component; `runner_metrics` has those that the node's runner measured."""
        return ()

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates `key`, if this component serves `key_type`; else None."""
        return None

    def on_marker(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        """Hook: a transaction marker was appended to `tp`; `end` is the new log end offset."""


class Components:
    """The components of one broker, called in the order in which they were plugged in."""

    def __init__(self) -> None:
        self._components: list[BrokerComponent] = []
        self._by_class: dict[type, BrokerComponent] = {}
        # Called for each append, or each partition of each fetch: so only components that override the method are
        # listed.
        self._rejecting: list[BrokerComponent] = []
        self._observing: list[BrokerComponent] = []
        self._with_foreign_logs: list[BrokerComponent] = []
        self._withholding: list[BrokerComponent] = []
        self._guarded: list[Container[str] | None] = []

    def __iter__(self) -> Iterator[BrokerComponent]:
        return iter(self._components)

    def add(self, component: BrokerComponent) -> None:
        self._components.append(component)
        self._by_class.update(dict.fromkeys(type(component).__mro__, component))
        if type(component).produce_error is not BrokerComponent.produce_error:
            self._rejecting.append(component)
        if type(component).on_progress is not BrokerComponent.on_progress:
            self._observing.append(component)
        if type(component).has_foreign_epochs is not BrokerComponent.has_foreign_epochs:
            self._with_foreign_logs.append(component)
        if type(component).withholds_log is not BrokerComponent.withholds_log:
            self._withholding.append(component)
        if component in self._with_foreign_logs or component in self._withholding:
            self._guarded.append(component.guarded_topics)

    def get(self, component_class: type[C]) -> C:
        """Return the component of this class, which must exist."""
        found = self._by_class[component_class]
        assert isinstance(found, component_class), "plugged in under its classes"
        return found

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        for component in self._components:
            component.before_metadata(now, delta)

    def on_metadata(self, now: Instant, delta: Delta, leads: Mapping[TopicPartition, bool]) -> None:
        """Call each component's `on_leadership` for the partitions in `leads`, then its `on_metadata`."""
        for component in self._components:
            for tp, is_leader in leads.items():
                component.on_leadership(now, tp, leads=is_leader)
            component.on_metadata(now, delta)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Pass a timer to the component named in its key."""
        for component in self._components:
            if component.name == key[0]:
                component.on_timer(now, key)
                return
        raise AssertionError(f"unknown timer: {key}")

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        for component in self._observing:
            component.on_progress(now, tp)

    def on_marker(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        for component in self._components:
            component.on_marker(now, tp, producer_id, end, commit=commit)

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        for component in self._components:
            component.on_cut_confirmed(now, tp)

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return the first component's reason why a client may not write to `tp` now, or None."""
        for component in self._rejecting:
            error = component.produce_error(tp)
            if error is not None:
                return error
        return None

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return the first component's reason why no transaction may be ended in `tp` now, or None."""
        for component in self._components:
            error = component.marker_error(tp)
            if error is not None:
                return error
        return None

    def commit_check(self, client_id: str) -> CommitCheck | None:
        """Return the check of the first component that has one for this client's commits, or None."""
        for component in self._components:
            check = component.commit_check(client_id)
            if check is not None:
                return check
        return None

    def has_foreign_epochs(self, partition: Partition) -> bool:
        """Return whether any component reports another cluster's leader epochs in the log (D13, D14)."""
        return any(component.has_foreign_epochs(partition) for component in self._with_foreign_logs)

    def may_compact(self, partition: Partition) -> bool:
        """Return whether all components allow compaction of the log of `partition`, which this broker leads."""
        return all(component.may_compact(partition) for component in self._components)

    def withholds_log(self, partition: Partition) -> bool:
        """Return whether for any component it is unknown if this leader may serve its log (D30)."""
        return any(component.withholds_log(partition) for component in self._withholding)

    def may_be_guarded(self, topic: str) -> bool:
        """Return False if `has_foreign_epochs` and `withholds_log` are False for every partition of the topic."""
        found = False
        for topics in self._guarded:  # A generator would be slower.
            found = found or topics is None or topic in topics
        return found

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates `key`, or None if no component serves `key_type`."""
        for component in self._components:
            found = component.coordinator_for(key_type, key)
            if found is not None:
                return found
        return None
