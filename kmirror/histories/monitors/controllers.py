"""Rules of controllers: elections, controlled shutdown, and the image after a restart."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import NO_LEADER, MetadataImage, PartitionImage, TopicImage
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.configs import Configs, Scope

UNCLEAN = "unclean.leader.election.enable"


class ControllerMonitor:
    """Judges a controller's decisions about partitions and brokers."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._shutting_down: dict[tuple[str, int], int] = {}
        """(cluster, broker) in controlled shutdown to the incarnation of the controller that has begun it."""

    def check_changes(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        """Check the changes of a controller's image in one event."""
        brokers_changed = before.brokers != after.brokers
        if brokers_changed:
            self._track_shutdowns(cluster, before, after)
        for name, topic in after.topics.items():
            known = before.topics.get(name)
            if known is topic and not brokers_changed:
                continue
            is_known = known is not None and known.topic_id == topic.topic_id
            for index, image in topic.partitions.items():
                previous = known.partitions.get(index) if known is not None and is_known else None
                if previous is image and not brokers_changed:
                    continue
                for rule, text in self._violations(cluster, topic, previous, image, after):
                    self._rules.report(cluster, CONTROLLER_ID, TopicPartition(name, index), rule, text)

    def check_restart(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        """Check the image that a new controller has read, if it begins at the offset of the previous one."""
        if before.offset == after.offset:
            owner = "a restarted controller"
            self._compare(cluster, CONTROLLER_ID, before, after, owner)

    def check_broker(self, cluster: str, broker: Broker) -> None:
        """Check a broker's image if it has reached the same offset as its controller's."""
        broker_image, controller_image = broker.context.image, self._scene.image(cluster)
        if broker_image.offset == controller_image.offset and broker_image.offset >= 0:
            self._compare(cluster, broker.context.node_id, controller_image, broker_image, "a broker")

    def check_directories(self, cluster: str, broker: Broker) -> None:
        """Check whether the controller knows the directories of a broker's logs, after everything has settled
        (KIP-858).

        A log in a failed directory keeps its assignment.
        """
        context, image = broker.context, self._scene.image(cluster)
        if not image.features.has_directories or not image.brokers.is_active(context.node_id):
            return
        for topic, index in image.topics.hosted_by(context.node_id):
            tp, assigned = TopicPartition(topic.name, index), topic.partitions[index].directory_of(context.node_id)
            disk = context.log_dirs.find(tp)
            if disk is not None and disk.directory_id != assigned:
                text = f"its log is in {disk.log_dir}, {disk.directory_id}, but the controller has {assigned}"
                self._rules.report(cluster, context.node_id, tp, "directory", text)

    def _compare(self, cluster: str, node: int, expected: MetadataImage, found: MetadataImage, owner: str) -> None:
        """Report how an image differs from another one of the same offset."""
        for part, one, other in (
            ("brokers", expected.brokers, found.brokers),
            ("topics", expected.topics, found.topics),
            ("configs", expected.configs, found.configs),
            ("feature levels", expected.features, found.features),
            ("producer ids", expected.producer_ids.next_producer_id, found.producer_ids.next_producer_id),
        ):
            if one != other:
                text = f"{owner} has other {part} than the controller had at offset {expected.offset}"
                self._rules.report(cluster, node, NO_PARTITION, "other-image", text)

    def check_shutdown(self, cluster: str, broker_id: int) -> None:
        """Check that all brokers know that a broker leads no partition when it may shut down (KIP-631).

        A controller that started after the shutdown began does not know of it, and does not wait.
        """
        found, image = self._scene.clusters[cluster], self._scene.image(cluster)
        if image.topics.leads(broker_id):
            text = f"broker {broker_id} may shut down, but leads {image.topics.leads(broker_id)} partitions"
            self._rules.report(cluster, broker_id, NO_PARTITION, "shutdown-leads", text)
        if self._shutting_down.pop((cluster, broker_id), -1) != self._incarnation(cluster):
            return
        for other in found.living():
            broker, known = found.broker(other), image.brokers.get(other)
            if other == broker_id or known is None or not image.brokers.is_active(other):
                continue
            if known.epoch == broker.parts.lifecycle.epoch and broker.context.image.topics.leads(broker_id):
                text = f"broker {broker_id} may shut down, but broker {other} does not know yet that it leads nothing"
                self._rules.report(cluster, other, NO_PARTITION, "shutdown-unknown", text)

    def _track_shutdowns(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        for broker_id, broker in after.brokers.items():
            previous = before.brokers.get(broker_id)
            if broker is previous or previous is None:
                continue
            if not broker.in_controlled_shutdown or broker.epoch != previous.epoch:
                self._shutting_down.pop((cluster, broker_id), None)
            elif not previous.in_controlled_shutdown:
                self._shutting_down[cluster, broker_id] = self._incarnation(cluster)

    def _incarnation(self, cluster: str) -> int:
        process = self._scene.clusters[cluster].process(CONTROLLER_ID)
        return self._scene.simulation.world.processes[process].incarnation

    def _violations(
        self,
        cluster: str,
        topic: TopicImage,
        before: PartitionImage | None,
        after: PartitionImage,
        image: MetadataImage,
    ) -> Iterator[tuple[str, str]]:
        """Yield the rules that a partition breaks in its current state."""
        leader, isr = after.leader, after.isr
        if len(set(isr)) < len(isr) or not set(isr) <= set(after.replicas):
            yield "isr-members", f"ISR {list(isr)} of replicas {list(after.replicas)}"
        if leader != NO_LEADER:
            if leader not in isr:
                yield "leader-isr", f"leader {leader} is not in its ISR {list(isr)}"
            if leader not in after.replicas or not image.brokers.may_lead(leader, after):
                yield "leader-inactive", f"leader {leader} is not active, or its log directory is offline"
        else:
            able = [member for member in isr or after.eligible if image.brokers.may_lead(member, after)]
            if able:
                yield "leaderless", f"it has no leader, although {able} of the ISR may lead"
        if before is None or before is after:
            return
        if after.partition_epoch <= before.partition_epoch:
            yield "partition-epoch", f"partition epoch {after.partition_epoch} comes after {before.partition_epoch}"
        if after.leader_epoch < before.leader_epoch + (leader != before.leader):
            text = f"leader {leader} in epoch {after.leader_epoch}"
            yield "leader-epoch", f"{text} comes after leader {before.leader} in epoch {before.leader_epoch}"
        if after.partition_epoch == before.partition_epoch + 1 and leader != before.leader:
            yield from self._election_violations(cluster, topic, before, after, image)

    def _election_violations(
        self, cluster: str, topic: TopicImage, before: PartitionImage, after: PartitionImage, image: MetadataImage
    ) -> Iterator[tuple[str, str]]:
        """Yield why a leader from outside the ISR may not lead."""
        leader, clean = after.leader, (*before.isr, *before.eligible)
        if leader == NO_LEADER or leader in clean:
            return
        if after.isr != (leader,):
            yield "unclean-isr", f"leader {leader} is elected from outside the ISR, which becomes {list(after.isr)}"
        able = [member for member in clean if member in after.replicas and image.brokers.may_lead(member, after)]
        if able:
            yield (
                "unclean-leader",
                f"leader {leader} is elected from outside the ISR {list(clean)}, although {able} of the ISR may lead",
            )
        if image.features.has_eligible_replicas and before.last_known == (leader,):
            return  # It leads once no replica is eligible; the last of them may have ended uncleanly (KIP-966).
        controller = self._scene.clusters[cluster].controller
        assert isinstance(controller, Controller)
        if not Configs(Scope.TOPIC, image.configs.topic(topic.name), controller.context.configs).flag(UNCLEAN):
            yield (
                "unclean-refused",
                f"leader {leader} is elected from outside the ISR {list(clean)}, but {UNCLEAN} is false",
            )
