"""One node of a cluster whose nodes are processes of their own: a broker, a controller, or both, on TCP ports.

listener = ListenerSpec.plain(Endpoint("localhost", 9092))
plan = NodePlan(node_id=2, controller=Endpoint("localhost", 9093), listeners=(listener,))
with TcpNode(plan, data="DIR", cluster_id="5L6g3nShT-eMCtK--X86sw") as node:
    node.wait()

The nodes may be started in any order: a broker asks the controller until it is let in, and goes on serving while the
controller is away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kmirror.assembly.inside import checked_configs
from kmirror.assembly.metrics import Metrics
from kmirror.assembly.nodes import Assembly, feature_records, formatted_records
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.metrics import Sample, merged
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.events import Node
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import CONTROLLER_NAME, Listeners, ListenerSpec
from kmirror.kernel.wrapping import Interpose
from kmirror.log.disk import Disks
from kmirror.logdir.cluster_folders import NODE_CONTROLLER, ClusterFolders, open_node_folders
from kmirror.logdir.feature_levels import check_levels
from kmirror.logdir.format import random_uuid
from kmirror.net.data import Data, folders_of, metadata_folder
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.memory import memory_disk
from kmirror.net.options import LinkOptions
from kmirror.net.running import RunningNodes, checked_advertised, new_rng
from kmirror.spec.configs import broker_configs
from kmirror.spec.features import ELIGIBLE_VERSION, FORMATTED, MIRROR_VERSION

LOOKED_EVERY_S = 0.5
"""How soon a wait for the controller is given up when it is to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """Which node of a cluster runs here, and where it listens.

    A listener's port of 0 is a free one; if it advertises port 0, that is the port at which it listens.
    """

    node_id: int
    controller: Endpoint | None = None
    """Where the cluster's controller is; None if it is this node."""
    listeners: Listeners = ()
    """Those of the broker; none for a node that is a controller alone."""
    controller_listener: ListenerSpec | None = None
    """The controller's; None for a node that is a broker alone."""

    def __post_init__(self) -> None:
        arguments.whole_number("node_id", self.node_id, 0, (1 << 31) - 1)
        if not self.listeners and self.controller_listener is None:
            raise UsageError(f"node {self.node_id} is a broker, a controller or both: say where it listens")
        if (self.controller is None) is (self.controller_listener is None):
            raise UsageError(f"node {self.node_id} is the controller, or is told where that is: say one of both")
        names = [each.name for found in self.roles.values() for each in found]
        if len(set(names)) < len(names):
            raise UsageError(
                f"the listeners of node {self.node_id} are {', '.join(names)}: give each a name of its own"
            )

    @property
    def roles(self) -> dict[str, Listeners]:
        """Return what the node is, and the listeners that it has for it."""
        controllers = () if self.controller_listener is None else (self.controller_listener,)
        return {role: found for role, found in (("broker", self.listeners), ("controller", controllers)) if found}


class TcpNode(RunningNodes):
    """The node of `plan`, from `start` to `close`; `stop` ends it in order before that.

    `data` is its log folder, or several, which are formatted if they are empty; without it logs are in memory. A
    broker has to know the id of the cluster that it joins: from its folder, or as `cluster_id`; a new controller
    draws one. `configs` are static configs as in a properties file, over Kafka's defaults. `interpose` wraps each node
    as it is made. `mirror_version` and `eligible_version` are as those of a `TcpCluster`.
    """

    def __init__(
        self,
        plan: NodePlan,
        *,
        configs: Mapping[str, str] | None = None,
        data: Data = None,
        cluster_id: str | None = None,
        mirror_version: int | None = None,
        eligible_version: int | None = None,
        interpose: Interpose | None = None,
        on_failure: OnFailure = OnFailure.GO_ON,
        authorizer: Authorizer | None = None,
    ) -> None:
        self.plan = plan
        super().__init__(f"{' and '.join(plan.roles)} {plan.node_id}")
        self._processes = {role: f"{role}-{plan.node_id}" for role in plan.roles}
        self.configs = checked_configs(configs or {})
        for each in self._specs():
            checked_advertised(each.advertised.host)
        if data is None and cluster_id is None and plan.controller_listener is None:
            raise UsageError(f"{self.what} has to know which cluster it joins: say --cluster-id, or where its logs are")
        self._data = folders_of(data)
        self.cluster_id = cluster_id or str(random_uuid())
        """Under `data` known once the node was started."""
        self._wanted_id = cluster_id
        self._mirror_version = int(data is None) if mirror_version is None else mirror_version
        self._asked = {MIRROR_VERSION: mirror_version, ELIGIBLE_VERSION: eligible_version}
        self._eligible_version = FORMATTED[ELIGIBLE_VERSION] if eligible_version is None else eligible_version
        self._interpose = interpose
        self._on_failure = on_failure
        self._authorizer = authorizer
        self._folders: ClusterFolders | None = None
        self._open_disks: Callable[[int], Disks] = lambda _: [memory_disk()]
        self._ports: dict[str, Port] = {}
        self._nodes: dict[str, Broker | Controller] = {}

    def __repr__(self) -> str:
        return f"<Node {self.plan.node_id}: {', '.join(self._processes)}>"

    # -- what it is ---------------------------------------------------------------------------

    @property
    def endpoint(self) -> Endpoint | None:
        """Return how clients reach the broker, None if this node has none; UsageError before the start."""
        return self._listeners("broker")[0].advertised if self.plan.listeners else None

    @property
    def controller_endpoint(self) -> Endpoint:
        """Return how brokers reach the cluster's controller; UsageError before the start."""
        found = self.plan.controller
        if found is None:
            (here,) = self._listeners("controller")
            found = here.advertised
        return found

    def _specs(self) -> Listeners:
        """Return the listeners of this node as planned."""
        return tuple(each for listeners in self.plan.roles.values() for each in listeners)

    def _listeners(self, role: str) -> Listeners:
        """Return the listeners of a role at their ports."""
        if not self._ports:
            raise UsageError(f"{self.what} has no ports yet: use it in a `with` block, or call start()")
        found = []
        for each in self.plan.roles[role]:
            at, known_as = self._ports[each.name].endpoint, each.advertised
            found.append(each._replace(endpoint=at, advertised=Endpoint(known_as.host, known_as.port or at.port)))
        return tuple(found)

    def living(self) -> list[int]:
        """Return the id of the broker if it runs here, else nothing."""
        process = self._processes.get("broker")
        return [self.plan.node_id] if process is not None and self._runs(process) else []

    def broker(self, broker_id: int) -> Broker:
        """Return the broker's node, which runs."""
        node = self._nodes["broker"]
        assert isinstance(node, Broker) and broker_id == self.plan.node_id, node
        return node

    @property
    def is_lost(self) -> bool:
        """Return whether the broker or the controller of this node has given up."""
        return bool(self.given_up)

    def metrics(self) -> Metrics:
        """Return what this node tells of itself in numbers now; UsageError before the start."""
        host = self._running_host()

        def read() -> Metrics:
            samples: list[Sample] = []
            for role, node in self._nodes.items():
                if self._runs(self._processes[role]):
                    samples += node.metrics(host.now(), host.processes[self._processes[role]].told)
            return Metrics({self.plan.node_id: merged(samples)})

        return self._on_loop(read)

    def is_ready(self) -> bool:
        """Does the broker serve, let in by the controller? A controller alone is ready when its log is open."""
        node = self._nodes.get("broker") or self._nodes.get("controller")
        if isinstance(node, Broker):
            return node.parts.lifecycle.recovered and not node.parts.lifecycle.fenced
        return isinstance(node, Controller) and node.is_open

    @property
    def waits_for(self) -> str:
        """Return what a node that is not ready waits for, for a message."""
        if "broker" not in self._nodes:
            return "its metadata log"
        at = f"the controller at {self.controller_endpoint}"
        lifecycle = self.broker(self.plan.node_id).parts.lifecycle
        if lifecycle.refusal:
            return f"{at}, which refuses it: {lifecycle.refusal.name}: {lifecycle.refusal.text}"
        return at if lifecycle.epoch < 0 else f"its logs and {at}"

    # -- its life -----------------------------------------------------------------------------

    def start(self) -> None:
        """Bind the ports and start the node; `wait` waits until it serves.

        UsageError if a port is taken, for a folder that is another node's or cluster's, or if it was started already.
        """
        if self._host is not None:
            raise UsageError(f"{self.what} was started already")
        try:
            for each in self._specs():
                self._ports[each.name] = Port(*each.endpoint)
            self._open_folder()
            self._thread.start()
            self._thread.call(self._place)
            for process in reversed(self._processes.values()):  # The controller first.
                self._thread.wait(self._restart_process(process))
        except BaseException:
            self.close()
            raise

    def wait(self, is_over: Callable[[], bool] = lambda: False, told: Callable[[], None] = lambda: None) -> bool:
        """Wait until the node serves, and return True; False if `is_over`, which is asked now and then, says so first.

        `told` is called each time that it was asked. What the node was lost by is raised.
        """
        self._check_may_wait()
        while not self._thread.wait(self._wait_a_little()):
            if is_over():
                return False
            told()
        return True

    async def _wait_a_little(self) -> bool:
        with suppress(TimeoutError):
            host = self._running_host()
            await asyncio.wait_for(
                host.until(lambda: bool(host.crashes) or self.is_lost or self.is_ready()), LOOKED_EVERY_S
            )
        if self.is_lost or self._running_host().crashes:
            raise self.loss()
        return self.is_ready()

    def stop(self) -> None:
        """Let the node end in order, the broker before the controller, and wait until it has."""
        for process in self._processes.values():
            self._thread.wait(self._stop_process(process))

    def close(self) -> None:
        """Kill what runs, and give back ports and folder; `stop` first is a clean end."""
        self._close_host(self._processes.values())
        for port in self._ports.values():
            port.close()
        self._ports.clear()
        if self._folders is not None:
            self._folders.close()
            self._folders = None

    def _open_folder(self) -> None:
        if not self._data:
            return
        self._folders = open_node_folders(
            self._data,
            metadata=metadata_folder(self.configs),
            node_id=self.plan.node_id,
            is_broker="broker" in self._processes,
            controller=self.controller_endpoint if "controller" in self._processes else None,
            bootstrap=formatted_records(self._eligible_version),
            now_ms=time.time_ns() // 1_000_000,
            cluster_id=self._wanted_id,
        )
        self._open_disks, self.cluster_id = self._folders.disks_of, self._folders.cluster_id
        if "controller" in self._processes:
            check_levels(self._folders.paths[NODE_CONTROLLER][0], self._asked)

    def _place(self) -> None:
        host = self._host = Host(asyncio.get_running_loop())
        host.on_note = self.on_note
        options = LinkOptions.of(broker_configs(self.configs, {}))
        for role, process in self._processes.items():
            listeners = self._listeners(role)
            host.add(
                process,
                self._maker(role, host),
                local=listeners,
                ports=[(each, self._ports[each.name]) for each in listeners],
                options=options,
                on_disk=bool(self._data),
            )

    def _maker(self, role: str, host: Host) -> Callable[[], Node]:
        node_id, is_broker = self.plan.node_id, role == "broker"
        controller_id = NODE_CONTROLLER if is_broker else node_id
        controller = ListenerSpec.plain(self.controller_endpoint, CONTROLLER_NAME)
        assembly = Assembly(
            cluster_id=self.cluster_id,
            controller_id=controller_id,
            listeners={controller_id: (controller,), node_id: self._listeners(role)},
            configs=self.configs,
            bootstrap=feature_records(self._mirror_version, eligible_version=self._eligible_version),
            on_failure=self._on_failure,
            authorizer=self._authorizer,
            clock=host.now,
        )

        def make() -> Node:
            disks = self._open_disks(node_id if is_broker else NODE_CONTROLLER)
            node = self._nodes[role] = assembly.node(node_id, disks, new_rng())
            return node if self._interpose is None else self._interpose(self._processes[role], node)

        return make
