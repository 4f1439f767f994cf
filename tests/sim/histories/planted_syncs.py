"""Faults planted into the syncs of a source's metadata: growth, configs, offsets of groups, deletion.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.coordinators import runtime
from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.cluster.images.topics import Topics
from kmirror.cluster.replication.log_retention import LogRetention
from kmirror.kernel.uuid import Uuid
from kmirror.mirror import driver, metadata_sync
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.fetchers import MirrorFetchers
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.syncs import cycle, groups, topic_scripts, topics
from kmirror.mirror.syncs.mirror_view import MirrorView
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.spec.wire_values import ConfigOp
from tests.sim.histories.planted import Patch, fault


def empty_script() -> Any:
    """A script without requests."""
    yield from ()


# -- growth, configs, groups ------------------------------------------------------------------------


@fault("stuck-state", profile="grown_and_altered")
def growth_is_not_followed(patch: Patch) -> None:
    """Partitions that are added at the source are not mirrored (D17)."""
    patch(
        TopicFacts, "is_behind", lambda topic, source_id: topic.local_topic is None and topic.source_topic is not None
    )


@fault("stuck-state", profile="grown_and_altered")
def configs_are_copied_once(patch: Patch) -> None:
    """A topic keeps the configs of its creation, although the source changes them (D17)."""
    patch(cycle, "sync_configs", lambda *_: empty_script())


@fault("stuck-state", profile="grown_and_altered")
def configs_are_never_removed(patch: Patch) -> None:
    """A config that the source has removed stays (D17)."""

    def plan(*facts: Any) -> Any:
        planned = original(*facts)
        for resource in planned.alter:
            resource.configs = [row for row in resource.configs if row.config_operation != ConfigOp.DELETE]
        return planned

    original = patch(topic_scripts.configs, "plan", plan)


@fault("stuck-state", profile="filters_altered")
def filters_are_read_once(patch: Patch) -> None:
    """A mirror keeps using its first filters (D17)."""
    first: dict[str, Any] = {}
    original = patch(MirrorView, "rules", lambda self: first.setdefault(self.mirror, original(self)))


@fault("stuck-state", profile="filters_altered")
def offsets_of_groups_stay_behind(patch: Patch) -> None:
    """The committed offsets of a group are copied once, and not again after they have moved (D17)."""
    original = patch(
        groups, "plan", lambda theirs, ours, *rest: original(theirs, {g: o for g, o in ours.items() if not o}, *rest)
    )


# -- retention --------------------------------------------------------------------------------------


@fault("stuck-state", profile="kept_for_seconds_at_the_source")
def log_start_of_the_source_ignored(patch: Patch) -> None:
    """A mirror keeps records that its source has deleted by age (D46)."""
    patch(MirrorFetchers, "raise_log_start", lambda self, mp: None)


@fault("divergence", profile="kept_for_seconds_at_the_destination")
def mirrored_records_expire_by_themselves(patch: Patch) -> None:
    """A mirror deletes by its own clock and configs (D46)."""
    patch(LogRetention, "is_mirrored", lambda self, partition: False)


# -- deletion ---------------------------------------------------------------------------------------


@fault("stuck-state", profile="deleted_at_the_source")
def deletion_at_the_source_goes_unnoticed(patch: Patch) -> None:
    """A topic that the source has deleted stays in the mirror (D16)."""
    patch(cycle, "remove_deleted_topics", lambda *_: empty_script())


@fault("mirrored-lost", profile="created_anew_at_the_source")
def another_topic_is_followed(patch: Patch) -> None:
    """A mirror identifies its source's topics by name, regardless of their ids (D16)."""
    for module in (driver, metadata_sync, topics):
        patch(module, "is_same_topic", lambda *_: True)

    def fail(self: Any, now: Any, mp: Any, reason: str) -> None:
        if "it had" in reason:
            mp.source_topic_id = Uuid.ZERO
        else:
            original(self, now, mp, reason)

    original = patch(StateWriter, "fail", fail)


@fault("epoch-regression", profile="mirrored_again")
def epochs_of_a_deleted_topic_are_forgotten(patch: Patch) -> None:
    """A topic that is mirrored again begins in epoch 0, as if its id were new (D49)."""
    patch(Topics, "first_leader_epoch", lambda self, topic_id: 0)


@fault("changed-by-restart", profile="killed_in_the_end")
def committed_offsets_not_loaded(patch: Patch) -> None:
    """A group coordinator that starts does not load the committed offsets."""

    def replay(self: Any, record: Any, key: Any, value: Any) -> None:
        if not running_loads:
            original_replay(self, record, key, value)

    def load(*args: Any, **options: Any) -> Any:
        running_loads.append(None)
        try:
            return original_load(*args, **options)
        finally:
            running_loads.pop()

    running_loads: list[None] = []
    original_replay = patch(Offsets, "replay", replay)
    original_load = patch(runtime, "load", load)


@fault("described-wrong", profile="killed_in_the_end")
def log_end_described_as_its_last_record(patch: Patch) -> None:
    """DescribeMirrors returns the offset of the last record as the log end offset."""

    def detail(context: Any, now: Any, mp: Any) -> Any:
        found = original(context, now, mp)
        found.destination_offset = max(0, found.destination_offset - 1)
        return found

    original = patch(describe_mirrors, "_detail", detail)


@fault("described-wrong", profile="killed_in_the_end")
def last_mirrored_epoch_described_of_the_log(patch: Patch) -> None:
    """DescribeMirrors of a stopped partition returns the latest epoch of its log as the last mirrored one."""

    def detail(context: Any, now: Any, mp: Any) -> Any:
        found, partition = original(context, now, mp), context.replicas.partitions.find_led(mp.tp)
        if partition is not None:
            found.last_mirror_epoch = partition.log.latest_epoch
        return found

    original = patch(describe_mirrors, "_detail", detail)
