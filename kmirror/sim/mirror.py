"""Mirror between two simulated clusters, for scripts and tests: admin requests, waiting and status."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from kmirror.assembly import mirrors
from kmirror.assembly.mirror_scripts import BlockingMirror, MirrorScripts
from kmirror.assembly.mirrors import WITHIN_S, Difference, MirrorListing, MirrorRow, parse_listings
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.pending import Pending, Script, Wait, pause
from kmirror.spec.wire_values import ResourceType

T = TypeVar("T")


class Mirror(BlockingMirror):
    """Mirror `name` of topics from `source` to `destination`; methods send requests to the destination's brokers."""

    def __init__(self, name: str, *, source: Cluster, destination: Cluster) -> None:
        """Raise UsageError if both clusters are the same, or from different simulations: no line connects those."""
        arguments.text("name", name)
        for role, cluster in (("source", source), ("destination", destination)):
            arguments.instance(role, cluster, Cluster)
        if source is destination:
            raise UsageError(f"a mirror needs two clusters, and {source.name} is both source and destination")
        if source.simulation is not destination.simulation:
            text = f"{source.name} and {destination.name} are clusters of two simulations"
            raise UsageError(f"{text}: create both with the same Simulation")
        self.name = name
        self.source = source
        self.destination = destination

    def __repr__(self) -> str:
        return f"<Mirror {self.name}: {self.source.name} to {self.destination.name}>"

    def begin_create(self, configs: Mapping[str, str] | None = None) -> Pending[None]:
        """Begin to create the mirror."""
        return self._begin(mirrors.CREATED, lambda mirror: mirror.create(configs))

    def begin_add_topics(self, topics: Iterable[str]) -> Pending[None]:
        """Begin to add topics; done when the controller has decided it and mirroring begins."""
        return self._begin(mirrors.ADDED, lambda mirror: mirror.add_topics(topics))

    def begin_remove_topics(self, topics: Iterable[str]) -> Pending[None]:
        """Begin to remove topics; done when the controller has decided it and failover begins."""
        return self._begin(mirrors.REMOVED, lambda mirror: mirror.remove_topics(topics))

    def begin_pause(self, topics: Iterable[str]) -> Pending[None]:
        """Begin to pause topics."""
        return self._begin(mirrors.PAUSED, lambda mirror: mirror.pause(topics))

    def begin_resume(self, topics: Iterable[str]) -> Pending[None]:
        """Begin to resume paused topics."""
        return self._begin(mirrors.RESUMED, lambda mirror: mirror.resume(topics))

    def begin_delete(self) -> Pending[None]:
        """Begin to delete the mirror."""
        return self._begin(mirrors.DELETED, lambda mirror: mirror.delete())

    def begin_alter(self, configs: Mapping[str, str | None]) -> Pending[None]:
        """Begin to alter configs of the mirror."""
        return self._begin(mirrors.ALTERED, lambda mirror: mirror.alter(configs))

    def begin_fail_over(self) -> Pending[list[MirrorRow]]:
        """Begin to remove every topic; done when all partitions are STOPPED.

        `waits_for` names partitions with their states and reasons, and brokers whose sessions must end first.
        """
        return self._begin(mirrors.FAILOVER, lambda mirror: mirror.fail_over())

    def _begin(self, description: str, start_script: Callable[[MirrorScripts], Script[T]]) -> Pending[T]:
        mirror = _Scripts(self.name, self.source, self.destination)

        def waits_for() -> str:
            return "; ".join([mirror.waits_for, *self.destination.awaited_sessions()])

        return Pending(
            self.destination.simulation.world, description.format(self.name), start_script(mirror), waits_for
        )

    def _run(
        self, description: str, start_script: Callable[[MirrorScripts], Script[T]], within_s: float = WITHIN_S
    ) -> T:
        arguments.seconds("within_s", within_s)
        return self._begin(description, start_script).result(within_s=within_s)

    @staticmethod  # Last in the class: above this method, `list` still means the type.
    def list(cluster: Cluster) -> list[MirrorListing]:
        """Return the mirrors whose destination is `cluster`, by name; raises KafkaError if that is denied."""
        arguments.instance("cluster", cluster, Cluster)
        reply = cluster.client.call(cluster.endpoints()[0], ListMirrorsRequest())
        assert isinstance(reply, ListMirrorsResponse)
        return parse_listings(reply)


class _Scripts(MirrorScripts):
    """Sends requests to brokers of the destination, and reads images and logs directly."""

    def __init__(self, name: str, source: Cluster, destination: Cluster) -> None:
        self._world = destination.simulation.world
        super().__init__(
            name,
            servers=source.bootstrap_servers,
            cluster=f"cluster {destination.name}",
            clusters=f"{source.name} to {destination.name}",
            moment=lambda: f" ({self._world.moment})",
        )
        self.source = source
        self.destination = destination
        self.waits_for = "an answer"

    async def topics(self) -> list[str]:
        configs = self.destination.image.configs
        return sorted(
            name
            for kind, name in configs
            if kind == ResourceType.TOPIC
            and (assignment := parse(configs[kind, name].get(MIRROR_NAME, ""))) is not None
            and assignment.mirror == self.name
        )

    async def difference(self) -> Difference | None:
        return mirror_agrees(self.source, self.destination, await self._comparable_partitions(self._timer(0)))[0]

    async def _send_change(self, request: Message) -> Message:
        return await self.destination.ordering(request)

    async def _send_to_each(self, request: Message) -> Mapping[int, Message]:
        destination, answers = self.destination, dict[int, Message]()
        for broker_id in destination.living():
            reply = await Wait(partial(destination.client.send, destination.endpoint(broker_id), request))
            if reply is not None:
                answers[broker_id] = reply
        return answers

    async def _source_ids(self, topics: Sequence[str]) -> Mapping[str, Uuid]:
        known = self.source.image.topics
        return {name: known[name].topic_id for name in topics if name in known}

    async def _partitions(self, topics: Sequence[str], *, at_source: bool) -> list[TopicPartition]:
        cluster = self.source if at_source else self.destination
        return cluster.partitions([name for name in topics if name in cluster.image.topics])

    async def _comparable_partitions(self, has_timed_out: Callable[[], bool]) -> list[TopicPartition]:
        if not (topics := await self.topics()):
            raise self._no_topics()
        return self.source.partitions(topics)

    async def _caught_up(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        leaders = [(tp, self.source.leader(tp), self.destination.leader(tp)) for tp in partitions]
        return [tp for tp, a, b in leaders if a and b and b.log.high_watermark == a.log.last_stable_offset]

    def _timer(self, within_s: float) -> Callable[[], bool]:
        return lambda: False  # `Pending.result` checks the time.

    async def _sleep(self, span_s: float, waits_for: str = "") -> None:
        self.waits_for = waits_for or self.waits_for
        await pause(self._world, span_s)
