"""A mirror between two simulated clusters, as scripts and tests hold it: requests, answers, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar

from kmirror.assembly.mirrors import (
    DESCRIBE_EVERY_S,
    WITHIN_S,
    Description,
    Difference,
    Goal,
    MirrorListing,
    MirrorRow,
    adding_topics,
    altering,
    creating,
    deleting,
    explained,
    listings_in,
    pause_s,
    pausing_topics,
    refused_order,
    removing_topics,
    resuming_topics,
)
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.pending import Pending, Script, Wait, pause
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

T = TypeVar("T")


class Mirror:
    """`name` mirrors topics from `source` to `destination`; every method speaks to brokers of the destination."""

    def __init__(self, name: str, *, source: Cluster, destination: Cluster) -> None:
        """Raise UsageError for two clusters that are the same, or of two simulations: no line lies between those."""
        arguments.text("name", name)
        for which, cluster in (("source", source), ("destination", destination)):
            arguments.instance(which, cluster, Cluster)
        if source is destination:
            raise UsageError(f"a mirror needs two clusters, and {source.name} is both source and destination")
        if source.simulation is not destination.simulation:
            text = f"{source.name} and {destination.name} are clusters of two simulations"
            raise UsageError(f"{text}: make both with the same Simulation")
        self.name = name
        self.source = source
        self.destination = destination

    def __repr__(self) -> str:
        return f"<Mirror {self.name}: {self.source.name} to {self.destination.name}>"

    def create(self, configs: Mapping[str, str] | None = None) -> None:
        """Create the mirror; KafkaError if the cluster refuses."""
        self.begin_create(configs).result()

    def begin_create(self, configs: Mapping[str, str] | None = None) -> Pending[None]:
        """Have the mirror created, and go on."""
        set_here = {} if configs is None else arguments.configs(configs)
        request = creating(self.name, self.source.bootstrap_servers, set_here)
        return self._begin(f"mirror {self.name} to be created", self._changing(request))

    def add_topics(self, topics: Iterable[str]) -> None:
        """Add topics, naming their ids if the source has them; KafkaError if one is refused.

        A topic that the source does not have yet is added as well, as by KIP-1279: it is mirrored once it is there.
        Until then `catch_up` and `difference` are UsageErrors that name it.
        """
        self.begin_add_topics(topics).result()

    def begin_add_topics(self, topics: Iterable[str]) -> Pending[None]:
        """Have topics added, and go on; it is done when that is decided, and mirroring begins."""
        request = adding_topics(self.name, {name: self._source_id(name) for name in as_names(topics)})
        what = f"topics to be added to mirror {self.name}"
        return self._begin(what, self._changing(request))

    def remove_topics(self, topics: Iterable[str]) -> None:
        """Remove topics: failover begins; KafkaError if one is refused."""
        self.begin_remove_topics(topics).result()

    def begin_remove_topics(self, topics: Iterable[str]) -> Pending[None]:
        """Have topics removed, and go on; it is done when that is decided, and failover begins."""
        what = f"topics to be removed from mirror {self.name}"
        return self._begin(what, self._removing(topics))

    def pause(self, topics: Iterable[str]) -> None:
        """Pause topics: they stay read-only, and nothing is fetched until `resume`; KafkaError if one is refused.

        It is decided then; `wait_for_state` tells when the partitions are PAUSED.
        """
        self.begin_pause(topics).result()

    def begin_pause(self, topics: Iterable[str]) -> Pending[None]:
        """Have topics paused, and go on."""
        request = pausing_topics(self.name, as_names(topics))
        script = self._changing(request)
        return self._begin(f"topics of mirror {self.name} to be paused", script)

    def resume(self, topics: Iterable[str]) -> None:
        """Resume paused topics, which go on where their logs end, without a cut; KafkaError if one is refused."""
        self.begin_resume(topics).result()

    def begin_resume(self, topics: Iterable[str]) -> Pending[None]:
        """Have paused topics resumed, and go on."""
        request = resuming_topics(self.name, as_names(topics))
        script = self._changing(request)
        return self._begin(f"topics of mirror {self.name} to be resumed", script)

    def delete(self) -> None:
        """Delete the mirror: its configs and states, and with them the way to fail back without copying everything.

        KafkaError MIRROR_NOT_EMPTY, with the partitions in its way, unless every topic was removed and is STOPPED.
        """
        self.begin_delete().result()

    def begin_delete(self) -> Pending[None]:
        """Have the mirror deleted, and go on."""
        request = deleting(self.name)
        return self._begin(f"mirror {self.name} to be deleted", self._changing(request))

    def alter(self, configs: Mapping[str, str | None]) -> None:
        """Set configs of the mirror, which take effect at once; None goes back to the default.

        KafkaError if one is refused; then nothing is altered.
        """
        self.begin_alter(configs).result()

    def begin_alter(self, configs: Mapping[str, str | None]) -> Pending[None]:
        """Have configs of the mirror altered, and go on."""
        request = altering(self.name, configs)
        return self._begin(f"mirror {self.name} to be altered", self._changing(request))

    def _removing(self, topics: Iterable[str]) -> Script[None]:
        request = removing_topics(self.name, as_names(topics))
        return self._changing(request)

    async def _changing(self, request: Message) -> None:
        """Have the destination carry out an order; KafkaError if all of it is refused, or one topic."""
        reply = await self.destination.ordering(request)
        refused = refused_order(self.name, request, reply)
        if refused is not None:
            raise self.destination.simulation.refusal(*refused)

    def _begin(self, what: str, script: Script[T], waits_for: Callable[[], str] = str) -> Pending[T]:
        world = self.destination.simulation.world

        def all_of_it() -> str:
            return "; ".join([waits_for() or "an answer", *self.destination.awaited_sessions()])

        return Pending(world, what, script, all_of_it)

    def describe(self) -> list[MirrorRow]:
        """Ask every living broker of the destination what it leads; rows sorted by partition.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return self._described().rows

    def reason(self) -> str:
        """Return why brokers of the destination cannot speak to the source, and which; empty if all can.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return self._described().reason

    def warning(self) -> str:
        """Return what an operator should know though no partition waits for it; empty if there is nothing.

        KafkaError UNKNOWN_MIRROR if there is no such mirror.
        """
        return self._described().warning

    def _described(self) -> Description:
        return self._begin(f"mirror {self.name} to be described", self._describing()).result()

    async def _describing(self) -> Description:
        found = await self._asking_each()
        if found.refusal is ErrorCode.UNKNOWN_MIRROR:
            await pause(self.destination.simulation.world, DESCRIBE_EVERY_S)
            found = await self._asking_each()
        if why := found.refusal:
            text = f"cannot describe mirror {self.name}: {why.name}: {why.text}"
            raise self.destination.simulation.refusal(why, text)
        return found

    async def _asking_each(self) -> Description:
        request, client = DescribeMirrorsRequest(mirror_names=[self.name]), self.destination.client
        found = Description()
        for broker_id in self.destination.living():
            reply = await Wait(partial(client.send, self.destination.endpoint(broker_id), request))
            for mirror in reply.mirrors if isinstance(reply, DescribeMirrorsResponse) else ():
                found.add(broker_id, mirror)
        return found

    def catch_up(self, *, within_s: float = WITHIN_S) -> None:
        """Wait until the destination has, on its whole ISR, all that the source has decided.

        DescribeMirrors tells the source's offset as of the last fetch; this looks at the source itself. UsageError if
        the mirror has no topics, or one that the source does not have.
        """
        self.wait_for_state(MirrorState.MIRRORING, self._to_compare(), within_s=within_s, caught_up=True)

    def fail_over(self, *, within_s: float = WITHIN_S) -> list[MirrorRow]:
        """Remove every topic and wait until all partitions are STOPPED: the destination takes writes.

        Nothing but the destination need be alive. A topic that never came to be there is removed as well. UsageError
        if the mirror has no topics.
        """
        return self.begin_fail_over().result(within_s=within_s)

    def begin_fail_over(self) -> Pending[list[MirrorRow]]:
        """Have every topic removed, and go on; it is done when all partitions are STOPPED.

        `waits_for` names partitions with their states and reasons, and brokers whose session has to end first.
        """
        rows: list[MirrorRow] = []
        topics = self._some_topics()

        def goal() -> Goal:
            known = self.destination.image.topics
            there = self.destination.partitions([name for name in topics if name in known])
            return Goal(MirrorState.STOPPED, there)

        async def fail_over() -> list[MirrorRow]:
            await self._removing(topics)
            return await self._coming_to(goal(), rows)

        return self._begin(f"the failover of mirror {self.name}", fail_over(), lambda: self._missing(goal(), rows))

    def difference(self) -> Difference | None:
        """Compare logs byte for byte, up to what is decided at the source; None if they are equal.

        Of a compacted topic records are compared where bytes differ: each side may lack what its cleaner took (D46).
        Every replica of the destination is compared. UsageError if the mirror has no topics, or one that the source
        does not have: nothing would be compared.
        """
        return mirror_agrees(self.source, self.destination, self._to_compare())[0]

    def assert_equal(self) -> None:
        """Raise AssertionError with the first difference, if there is one.

        Its text names the moment of the run.
        """
        difference = self.difference()
        if difference is not None:
            what = f"mirror {self.name} from {self.source.name} to {self.destination.name}"
            raise AssertionError(f"{what}: {difference} ({self.destination.simulation.world.moment})")

    def topics(self) -> list[str]:
        """Return the names of all topics in this mirror, whether they exist at the destination or not.

        Removed ones are among them, unless they never came to be there.
        """
        configs = self.destination.image.configs
        return sorted(
            name
            for kind, name in configs
            if kind == ResourceType.TOPIC
            and (assignment := parse(configs[kind, name].get(MIRROR_NAME, ""))) is not None
            and assignment.mirror == self.name
        )

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions, at the source, of those topics in this mirror that the source has."""
        return self.source.partitions([name for name in self.topics() if name in self.source.image.topics])

    def _some_topics(self) -> list[str]:
        topics = self.topics()
        if not topics:
            raise UsageError(f"mirror {self.name} of cluster {self.destination.name} has no topics: add some first")
        return topics

    def _to_compare(self) -> list[TopicPartition]:
        """Return the partitions of all topics in this mirror; UsageError where the source lacks one, or there is none.

        Over no partitions everything is true.
        """
        return self.source.partitions(self._some_topics())

    def _has_caught_up(self, tp: TopicPartition) -> bool:
        source, destination = self.source.leader(tp), self.destination.leader(tp)
        return (
            source is not None
            and destination is not None
            and destination.log.high_watermark == source.log.last_stable_offset
        )

    def wait_for_state(
        self,
        state: MirrorState,
        partitions: Iterable[TopicPartition],
        *,
        within_s: float = WITHIN_S,
        caught_up: bool = False,
        watch: Callable[[list[MirrorRow]], None] | None = None,
    ) -> list[MirrorRow]:
        """Describe again and again until every partition is in `state` and, if asked, has all that is decided.

        The lag that DescribeMirrors tells counts what lies above open transactions as well (D22), and is not 0 then.
        UsageError if there are no partitions to wait for.
        """
        arguments.member("state", state, MirrorState)
        arguments.seconds("within_s", within_s)
        if watch is not None:
            arguments.callback("watch", watch)
        rows: list[MirrorRow] = []
        if not (wanted := tuple(dict.fromkeys(arguments.partitions(partitions)))):
            raise UsageError(f"mirror {self.name}: name at least one partition to wait for")
        goal = Goal(state, wanted, caught_up=caught_up)
        what = f"mirror {self.name} to come to {state.name}{', caught up' * caught_up}"
        script = self._coming_to(goal, rows, watch)
        return self._begin(what, script, lambda: self._missing(goal, rows)).result(within_s=within_s)

    async def _coming_to(
        self, goal: Goal, rows: list[MirrorRow], watch: Callable[[list[MirrorRow]], None] | None = None
    ) -> list[MirrorRow]:
        """Describe until the goal is reached; `rows` is what was described last."""
        while True:
            rows[:] = (await self._describing()).rows
            if watch is not None:
                watch(rows)
            if not self._not_there(goal, rows):
                return rows
            await pause(self.destination.simulation.world, pause_s(rows))

    def _not_there(self, goal: Goal, rows: list[MirrorRow]) -> list[TopicPartition]:
        # A lag is known once a fetch was answered: before that two logs may end alike and differ.
        ready = {
            row.tp
            for row in rows
            if row.state is goal.state and (not goal.caught_up or (row.lag >= 0 and self._has_caught_up(row.tp)))
        }
        return [tp for tp in sorted(goal.partitions) if tp not in ready]

    def _missing(self, goal: Goal, rows: list[MirrorRow]) -> str:
        return explained(self._not_there(goal, rows), rows)

    def _source_id(self, topic: str) -> Uuid:
        known = self.source.image.topics.get(topic)
        return Uuid.ZERO if known is None else known.topic_id

    @staticmethod  # The last one: above it `list` is still the type.
    def list(cluster: Cluster) -> list[MirrorListing]:
        """Return the mirrors of which `cluster` is the destination, by name; KafkaError if that is refused."""
        arguments.instance("cluster", cluster, Cluster)
        reply = cluster.client.call(cluster.endpoints()[0], ListMirrorsRequest())
        assert isinstance(reply, ListMirrorsResponse)
        return listings_in(reply)
