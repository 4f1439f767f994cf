"""Faults planted into decisions, responses and metrics of nodes; most lose no record by themselves.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.broker import metadata_follower
from kmirror.cluster.broker.apis import describe_configs
from kmirror.cluster.broker.metadata_follower import MetadataFollower
from kmirror.cluster.controller import controller, elections
from kmirror.cluster.controller.heartbeats import BrokerState, Heartbeats
from kmirror.cluster.metadata import replay
from kmirror.cluster.metadata.snapshot_generator import SnapshotGenerator
from kmirror.cluster.server import Inbound
from kmirror.mirror import metrics
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.controller_apis import add_topics_to_mirror, incremental_alter_configs
from kmirror.mirror.refresh_plan import RefreshPlan
from kmirror.mirror.syncs import deleted_topics, topic_scripts
from kmirror.mirror.syncs.report import Reports
from kmirror.mirror.syncs.scripts import ControllerRequest
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.headers import peek_request
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ResourceType
from tests.sim.histories.planted import Patch, fault

ADD = API_KEYS["AddTopicsToMirror"]

# -- controllers ------------------------------------------------------------------------------------


@fault("leader-inactive", profile="killed_at_the_source")
def fenced_brokers_go_on_leading(patch: Patch) -> None:
    """A fenced broker keeps its leaderships."""
    patch(elections, "without_replica", lambda *_: None)


@fault("shutdown-unknown", profile="stopped_behind_a_slow_line")
def shutdowns_wait_for_nobody(patch: Patch) -> None:
    """A broker in controlled shutdown may stop before the others have replayed that it leads nothing."""

    def next_state(self: Heartbeats, image: Any, broker: Any, request: Any) -> BrokerState:
        leaves = self.state_of(broker) is BrokerState.CONTROLLED_SHUTDOWN and not image.topics.leads(broker.broker_id)
        return BrokerState.SHUTDOWN_NOW if leaves else original(self, image, broker, request)

    original = patch(Heartbeats, "next_state", next_state)


@fault("other-image", profile="read_again")
def configs_are_not_read_again(patch: Patch) -> None:
    """A restarted controller ignores the configs of mirrors in its log."""

    def metadata_records(batch: Any) -> Any:
        for row in original(batch):
            message = row.message
            if not isinstance(message, ConfigRecord) or message.resource_type != ResourceType.MIRROR:
                yield row

    original = patch(replay, "metadata_records", metadata_records)


@fault("other-image", profile="with_a_config")
def images_forget_configs(patch: Patch) -> None:
    """A broker does not apply changes of the configs of mirrors."""

    def apply(self: MetadataFollower, offset: int, record: Any) -> None:
        if not isinstance(record, ConfigRecord) or record.resource_type != ResourceType.MIRROR:
            original(self, offset, record)

    original = patch(MetadataFollower, "_apply", apply)


@fault("unanswered", profile="mirrored")
def envelopes_stay_unanswered(patch: Patch) -> None:
    """A controller does not answer forwarded requests to add topics to a mirror."""

    def reply(self: Inbound, body: Any) -> None:
        is_order = isinstance(self.body, EnvelopeRequest) and peek_request(self.body.request_data).api_key == ADD
        if not is_order:
            original(self, body)

    original = patch(Inbound, "reply", reply)


@fault("metric-count", profile="with_a_config")
def controllers_count_nothing(patch: Patch) -> None:
    """The metrics of a controller are missing."""
    patch(controller, "controller_samples", lambda image, decides: [])


@fault("two-snapshots", profile="mirrored")
def snapshots_are_written_side_by_side(patch: Patch) -> None:
    """A snapshot is begun while another one is written."""

    def write(self: SnapshotGenerator, now: Any) -> None:
        for _ in range(2):
            self._is_writing = False
            original(self, now)

    original = patch(SnapshotGenerator, "_write", write)


# -- responses --------------------------------------------------------------------------------------


@fault("answer-code", profile="wanted_by_two")
def topics_may_be_in_two_mirrors(patch: Patch) -> None:
    """A topic that is in a mirror may be added to another one."""
    patch(add_topics_to_mirror, "_check", lambda *_: ErrorCode.NONE)


@fault("answer-configs", profile="with_a_config")
def synonyms_are_always_told(patch: Patch) -> None:
    """DescribeConfigs returns synonyms that were not requested."""

    def result(parts: Any, request: Any, *others: Any) -> Any:
        request.include_synonyms = True
        try:
            return original(parts, request, *others)
        finally:
            request.include_synonyms = False

    original = patch(describe_configs, "_result", result)


@fault("described-topics", profile="added_out_of_reach")
def topics_to_come_are_not_described(patch: Patch) -> None:
    """DescribeMirrors does not name a topic that was not created yet."""
    patch(describe_mirrors, "_without_leader", lambda *_: ())


@fault("metric-failed", profile="goes_out_of_reach")
def nothing_counts_as_failed(patch: Patch) -> None:
    """Partitions whose source does not respond are not counted as failed."""
    patch(metrics, "_has_failed", lambda *_: False)


@fault("metric-max-lag", profile="mirrored")
def lags_are_counted_from_zero(patch: Patch) -> None:
    """The lag of a partition is the end offset of its source."""
    patch(metrics, "lag_of", lambda context, now, mp: mp.source_offset)


# -- syncs ------------------------------------------------------------------------------------------


@fault("stopped-early", profile="deleted_while_mirrored")
def topics_are_stopped_at_once(patch: Patch) -> None:
    """A topic is stopped as soon as one response of the source lacks it (D16)."""
    patch(deleted_topics, "CYCLES_MISSING", 1)


@fault("refresh-late", profile="goes_out_of_reach")
def news_wait_for_the_next_cycle(patch: Patch) -> None:
    """Requested news of a source are fetched with the next regular refresh."""
    patch(RefreshPlan, "next_at", lambda self: max(self.not_before, self.next_full_at) + 1)


@fault("mirror-assignments", profile="mirrored")
def assignments_are_read_late(patch: Patch) -> None:
    """A broker applies a topic's change of mirror only with the next change."""

    def before_metadata(self: MirrorComponent, now: Any, delta: Any) -> None:
        late.append(delta)
        if len(late) > 1:
            original(self, now, late.pop(0))

    late: list[Any] = []
    original = patch(MirrorComponent, "before_metadata", before_metadata)


@fault("config-flaps", profile="with_a_config")
def configs_come_and_go(patch: Patch) -> None:
    """A config that equals the source's is removed, and set again in the next cycle."""

    def plan(topics: Any, theirs: Any, ours: Any, *others: Any) -> Any:
        made = original(topics, theirs, ours, *others)
        if not made.alter and "retention.ms" in ours.get("t0", {}):
            row = AlterableConfig(name="retention.ms", config_operation=ConfigOp.DELETE, value=None)
            made.alter.append(AlterConfigsResource(ResourceType.TOPIC, "t0", [row]))
        return made

    original = patch(topic_scripts.configs, "plan", plan)


@fault("synced-unmirrored", profile="altered_and_removed")
def configs_come_after_the_removal(patch: Patch) -> None:
    """A sync's request to the controller for one topic is sent with that for another, and reported as done (D75)."""
    held: list[ControllerRequest] = []

    def send(self: ControllerRequest, context: Any, source: Any, now: Any, on_response: Any) -> None:
        if isinstance(self.request, IncrementalAlterConfigsRequest):
            if self.request.resources[0].resource_name == "t0":
                held.append(self)
                on_response(now, None)
                return
            for late in held[:1]:
                original(late, context, source, now, lambda *_: None)
        original(self, context, source, now, on_response)

    original = patch(ControllerRequest, "send", send)
    patch(incremental_alter_configs, "check_mirrored", lambda *_: None)


@fault("synced-again", profile="mirrored")
def syncs_end_troubles_that_never_were(patch: Patch) -> None:
    """A sync that succeeds reports a recovery although it had not failed."""

    def report(self: Reports, kind: Any, scope: str, problems: Any, left_out: Any = None) -> None:
        original(self, kind, scope, problems or {"its source": ""}, left_out)

    original = patch(Reports, "report", report)


@fault("late-timer", profile="read_again")
def fetches_are_repeated_in_the_past(patch: Patch) -> None:
    """A broker without a response fetches metadata again immediately, by a timer in the past."""
    patch(metadata_follower, "RETRY_MS", -metadata_follower.RETRY_MS)
