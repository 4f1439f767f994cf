"""Rules of registrations: a controller's ISRs and eligible replicas when a broker starts again."""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.images import BrokerImage, MetadataImage
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest


class RegistrationMonitor(FrameMonitor, Monitor):
    """Judges whether a broker is in ISRs or eligible after an unclean end, when it has registered."""

    APIS = ("BrokerRegistration",)

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._previous_epochs: dict[tuple[str, Uuid], int] = {}
        """(cluster, incarnation) to the broker epoch of the previous process if it shut down cleanly; else -1."""

    def on_request(self, pending: PendingRequest) -> None:
        body = pending.body
        assert isinstance(body, BrokerRegistrationRequest)
        self._previous_epochs[pending.cluster, body.incarnation_id] = body.previous_broker_epoch

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        if not before.features.has_eligible_replicas or before.brokers == after.brokers:
            return
        for broker_id, broker in after.brokers.items():
            known = before.brokers.get(broker_id)
            if known is not None and self._ended_uncleanly(cluster, known, broker):
                self._check_replicas(cluster, broker_id, after)

    def _ended_uncleanly(self, cluster: str, known: BrokerImage, broker: BrokerImage) -> bool:
        previous_epoch = self._previous_epochs.get((cluster, broker.incarnation))
        return broker.incarnation != known.incarnation and previous_epoch is not None and previous_epoch != known.epoch

    def _check_replicas(self, cluster: str, broker_id: int, image: MetadataImage) -> None:
        for name, topic in image.topics.items():
            for index, partition in topic.partitions.items():
                if broker_id in (*partition.isr, *partition.eligible):
                    text = (
                        f"broker {broker_id} ended uncleanly, and of ISR {list(partition.isr)} and eligible "
                        f"{list(partition.eligible)} it is one"
                    )
                    self._rules.report(cluster, CONTROLLER_ID, TopicPartition(name, index), "eligible-unclean", text)
