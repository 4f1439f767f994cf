"""The driver of mirrored partitions: chooses and does the next step of each.

Level-triggered: `take_step` compares the user's wish, the persisted state and the present facts, and does the next
step. A step that needs a response marks the partition busy, and the response schedules another step. So a lost
response, a new leader or a restart costs a repetition and nothing else.

Every event that may make a step possible marks the partition (`schedule_step`). Each marked partition takes its step
once, after the event has been handled. A partition that nothing marks costs nothing.
"""

from __future__ import annotations

from itertools import islice

from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import BOOTSTRAP_SERVERS
from kmirror.mirror.context import NAME, STEP_TIMER, MirrorContext
from kmirror.mirror.epoch_bumps import EpochBumps
from kmirror.mirror.fetchers import MirrorFetchers
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.preparing import Preparing, has_pending_cut
from kmirror.mirror.source_lineage import LineageCheck
from kmirror.mirror.source_requests import SourceRequests
from kmirror.mirror.source_responses import no_response_text, untrusted_text
from kmirror.mirror.state_loader import StateLoader
from kmirror.mirror.state_records import NOT_SETTLED
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.states import MirrorState, next_state
from kmirror.mirror.stopping import Stopping
from kmirror.mirror.topic_ids import is_same_topic
from kmirror.mirror.uncut_replicas import has_new_confirmation
from kmirror.mirror.upstream_check import UpstreamCheck

STEPS_MAX = 500
"""Partitions that take a step in one event. The others follow at once, in an event of their own: incoming events need
not wait for all of them."""
EXTRA_REFRESHES_MAX = 3
"""Number of extra refreshes for a topic that the source does not know; after that only the regular ones look for it."""


class PartitionDriver:
    """Moves the mirrored partitions of one broker along, and owns the parts that do the steps."""

    def __init__(self, context: MirrorContext) -> None:
        self._context = context
        self._writer = StateWriter(context, self.schedule_step, self.stop_fetching)
        self._source_requests = SourceRequests(context, self.schedule_step)
        self._upstream = UpstreamCheck(context, self._source_requests, self.schedule_step)
        lineage_check = LineageCheck(
            context, self._writer, self._source_requests, self.schedule_step, self.stop_fetching
        )
        self._bumps = EpochBumps(context)
        self.fetchers = MirrorFetchers(context, self._writer, lineage_check, self._bumps)
        self._preparing = Preparing(context, self._writer, self._source_requests, lineage_check, self.schedule_step)
        self._stopping = Stopping(context, self._writer, self._bumps, self.schedule_step)
        self._state_loader = StateLoader(context, self._writer)
        self._due: dict[TopicPartition, MirrorPartition] = {}
        """Partitions that take a step after this event."""
        self._instant: Instant = -1
        self._steps_left = 0
        """Number of steps left in this instant."""

    def stop_fetching(self, mp: MirrorPartition) -> None:
        """Remove a partition from its fetcher."""
        self.fetchers.remove(mp)

    def schedule_step(self, now: Instant, mp: MirrorPartition) -> None:
        """Take the next step of a partition once the present event has been handled."""
        self._due[mp.tp] = mp
        self._context.broker.defer(self._take_due_steps)

    def continue_steps(self) -> None:
        """Take the steps that STEPS_MAX left over; called when LOOK_TIMER fires."""
        self._steps_left = STEPS_MAX
        self._context.broker.defer(self._take_due_steps)

    def request_upstream(self, now: Instant) -> None:
        """Ask sources where their logs are mirrored from, for partitions that need it; called by UPSTREAM_TIMER."""
        self._upstream.send_requests(now)

    def _take_due_steps(self, now: Instant) -> None:
        """Take the steps of the marked partitions, in the order in which they were marked."""
        if now != self._instant:
            self._instant, self._steps_left = now, STEPS_MAX
        due = list(islice(self._due, self._steps_left))
        self._steps_left -= len(due)
        for tp in due:
            mp = self._due.pop(tp)
            try:
                self.take_step(now, mp)
            except Exception as failure:  # The others must still take their steps.
                self._context.broker.failures.report(f"the next step of {tp}", failure)
                self._context.retry_later(now, mp, "its next step failed in this broker")
        if self._due and not self._steps_left:
            self._context.broker.outbox.set_timer((NAME, STEP_TIMER), now)

    def take_step(self, now: Instant, mp: MirrorPartition) -> None:
        """Do the next step for `mp`, if there is one and nothing is under way."""
        partition = self._context.replicas.partitions.find_led(mp.tp)
        if mp.is_busy or partition is None or not self._context.is_present(mp) or now < mp.retry_at:
            return
        if mp.state is None:
            self._state_loader.load(now, mp)
            return
        self._do_next(now, mp, mp.state, partition)
        self._context.note_reason(mp)

    def _do_next(self, now: Instant, mp: MirrorPartition, state: MirrorState, partition: Partition) -> None:
        target = next_state(mp.assignment.wish, state)
        if mp.state_topic_id != self._context.coordinator.incarnation():  # The persisted state is lost.
            self._writer.write_state(now, mp, state, mp.last_mirrored_epoch)
        elif mp.is_withheld or (mp.is_unsure and target is state):
            self._writer.write_state(now, mp, state, NOT_SETTLED)
        elif state is MirrorState.PREPARING and has_pending_cut(mp, partition):
            self._preparing.cut(now, mp, partition)
        elif target is not state:
            self._writer.transition(now, mp, target)
        elif has_new_confirmation(mp, partition):
            self._writer.write_state(now, mp, state, NOT_SETTLED)
        elif state is MirrorState.PREPARING:
            if self._is_same_source(now, mp):
                self._preparing.act(now, mp, partition)
        elif state is MirrorState.MIRRORING:
            if self._is_same_source(now, mp):
                if mp.paused_until <= now:  # Else it is the source's last error.
                    mp.reason = ""
                self.fetchers.assign(now, mp)
            else:
                self.fetchers.remove(mp)
        elif state is MirrorState.STOPPING:
            self._stopping.act(now, mp, partition)

    def _is_same_source(self, now: Instant, mp: MirrorPartition) -> bool:
        """Return whether the source and its topic have the expected ids; if not, `mp` waits or fails (D16).

        This is checked before the cut as well: nothing may be cut because of a response from another cluster. If the
        cluster is the same but the topic has another id, the former topic will not come back: the partition fails.
        """
        mirror, name = mp.assignment.mirror, mp.tp.topic
        source = self._context.sources.get(mirror)
        if source is None:
            mp.reason = "the mirror's configs are not known here yet"
            return False
        remembered, topic = self._context.source_cluster_id(mirror), source.topics.get(name)
        if source.cluster_id is None:
            mp.reason = no_response_text(source)
            self._context.refresh_soon(now, mirror, name)
        elif remembered and source.cluster_id != remembered:
            mp.reason = (
                f"the source at {BOOTSTRAP_SERVERS} is cluster {source.cluster_id}, not {remembered}: nothing is cut "
                f"or fetched until cluster {remembered} responds again"
            )
        elif name in source.topic_errors:
            mp.reason = f"the source returned {source.topic_errors[name].name} for topic {name}"
        elif name in source.distrusted_topics and not source.has(name):  # A refresh follows soon.
            mp.reason = untrusted_text(name, source.distrusted_topics[name])
        elif topic is None and name not in source.missing_topics:
            mp.reason = no_response_text(source, f" about topic {name} since it was added")
            self._context.refresh_soon(now, mirror, name)
        elif topic is None or not source.has(name):
            mp.reason = f"the source has no topic {name}"
            if source.missing_topics.get(name, 0) < EXTRA_REFRESHES_MAX:  # One broker may not know it yet.
                self._context.refresh_soon(now, mirror, name)
        elif not is_same_topic(topic.topic_id, mp.topic_id, source.cluster_id, self._context.broker.cluster_id, name):
            id_text = "no id" if topic.topic_id == Uuid.ZERO else f"id {topic.topic_id}"
            advice = "to mirror that one, remove the topic from the mirror, delete it here, then add it again"
            reason = f"the source's topic has {id_text}, ours has {mp.topic_id}: they are different topics; {advice}"
            self._writer.fail(now, mp, reason)
        elif mp.source_topic_id not in (Uuid.ZERO, topic.topic_id):  # Ours was generated here: not comparable (D53).
            self._writer.fail(
                now, mp, f"the source's topic has id {topic.topic_id}, it had {mp.source_topic_id} before"
            )
        elif mp.tp.partition >= topic.partitions:
            mp.reason = f"the source's topic has {topic.partitions} partitions"
        elif not remembered:
            mp.reason = "the source's cluster id is not stored yet"
        else:
            return True
        return False
