"""Single node of a cluster whose nodes are separate processes: a broker, a controller or both, on TCP ports.

listener = ListenerSpec.plain(Endpoint("localhost", 9092))
plan = NodePlan(node_id=2, controller=Endpoint("localhost", 9093), listeners=(listener,))
with TcpNode(plan, data="DIR", cluster_id="5L6g3nShT-eMCtK--X86sw") as node:
    node.wait()

The nodes may be started in any order: a broker retries its registration until the controller accepts it, and continues
to serve while the controller is down.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kmirror.assembly.cluster_view import checked_configs
from kmirror.assembly.metrics import Metrics
from kmirror.assembly.nodes import Assembly, feature_records, formatted_records
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.metrics import Sample, merge_samples
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.events import Node
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import CONTROLLER_NAME, Listeners, ListenerSpec
from kmirror.kernel.wrapping import WrapNode
from kmirror.log.disk import Disks
from kmirror.logdir.cluster_folders import NODE_CONTROLLER, ClusterFolders, open_node_folders
from kmirror.logdir.feature_levels import check_levels
from kmirror.logdir.format import random_uuid
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.log_folders import Data, folders_of, metadata_folder
from kmirror.net.memory import memory_disk
from kmirror.net.options import LinkOptions
from kmirror.net.running import RunningNodes, checked_advertised, new_rng
from kmirror.spec.configs import broker_configs
from kmirror.spec.features import ELIGIBLE_VERSION, FORMAT_LEVELS, MIRROR_VERSION

CHECK_INTERVAL_S = 0.5
"""Interval in seconds at which a wait for the controller can be cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """Identity and listeners of the node that runs in this process.

    A listener port of 0 is a free port; an advertised port of 0 is the port at which the listener listens.
    """

    node_id: int
    controller: Endpoint | None = None
    """Address of the cluster's controller; None if this node is the controller."""
    listeners: Listeners = ()
    """Listeners of the broker; empty for a node that is only a controller."""
    controller_listener: ListenerSpec | None = None
    """Listener of the controller; None for a node that is only a broker."""

    def __post_init__(self) -> None:
        arguments.whole_number("node_id", self.node_id, 0, (1 << 31) - 1)
        if not self.listeners and self.controller_listener is None:
            raise UsageError(f"node {self.node_id} has no listeners: set listeners, controller_listener or both")
        if (self.controller is None) is (self.controller_listener is None):
            raise UsageError(f"node {self.node_id} needs either controller or controller_listener, not both")
        names = [each.name for found in self.roles.values() for each in found]
        if len(set(names)) < len(names):
            raise UsageError(
                f"the listeners of node {self.node_id} are {', '.join(names)}: each needs a different name"
            )

    @property
    def roles(self) -> dict[str, Listeners]:
        """Roles of the node and the listeners of each."""
        controllers = () if self.controller_listener is None else (self.controller_listener,)
        return {role: found for role, found in (("broker", self.listeners), ("controller", controllers)) if found}


class TcpNode(RunningNodes):
    """Node of `plan`, from `start` to `close`; call `stop` before `close` for a clean shutdown.

    `data` is one or several log folders, which are formatted if they are empty; without it logs are in memory. A broker
    needs the id of the cluster that it joins, from its folder or as `cluster_id`; a new controller generates one.
    `configs` are static configs as in a properties file, over Kafka's defaults. `interpose` wraps each node when it is
    made. `mirror_version` and `eligible_version` have the same meaning as in `TcpCluster`.
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
        interpose: WrapNode | None = None,
        on_failure: OnFailure = OnFailure.CONTINUE,
        authorizer: Authorizer | None = None,
    ) -> None:
        self.plan = plan
        super().__init__(f"{' and '.join(plan.roles)} {plan.node_id}")
        self._processes = {role: f"{role}-{plan.node_id}" for role in plan.roles}
        self.configs = checked_configs(configs or {})
        for each in self._specs():
            checked_advertised(each.advertised.host)
        if data is None and cluster_id is None and plan.controller_listener is None:
            raise UsageError(f"{self.what} needs a cluster id: set --cluster-id, or use the folder of its logs")
        self._data = folders_of(data)
        self.cluster_id = cluster_id or str(random_uuid())
        """Under `data`, known only after the node was started."""
        self._requested_id = cluster_id
        self._mirror_version = int(data is None) if mirror_version is None else mirror_version
        self._requested_levels = {MIRROR_VERSION: mirror_version, ELIGIBLE_VERSION: eligible_version}
        self._eligible_version = FORMAT_LEVELS[ELIGIBLE_VERSION] if eligible_version is None else eligible_version
        self._interpose = interpose
        self._on_failure = on_failure
        self._authorizer = authorizer
        self._folders: ClusterFolders | None = None
        self._open_disks: Callable[[int], Disks] = lambda _: [memory_disk()]
        self._ports: dict[str, Port] = {}
        self._nodes: dict[str, Broker | Controller] = {}

    def __repr__(self) -> str:
        return f"<Node {self.plan.node_id}: {', '.join(self._processes)}>"

    # -- state --------------------------------------------------------------------------------

    @property
    def endpoint(self) -> Endpoint | None:
        """Address that clients use for the broker, or None if this node has no broker; UsageError before the start."""
        return self._listeners("broker")[0].advertised if self.plan.listeners else None

    @property
    def controller_endpoint(self) -> Endpoint:
        """Address that brokers use for the cluster's controller; UsageError before the start."""
        found = self.plan.controller
        if found is None:
            (listener,) = self._listeners("controller")
            found = listener.advertised
        return found

    def _specs(self) -> Listeners:
        """Return the configured listeners of this node."""
        return tuple(each for listeners in self.plan.roles.values() for each in listeners)

    def _listeners(self, role: str) -> Listeners:
        """Return the listeners of a role with their bound ports."""
        if not self._ports:
            raise UsageError(f"{self.what} has no ports yet: use it in a `with` block, or call start()")
        found = []
        for each in self.plan.roles[role]:
            bound, advertised_endpoint = self._ports[each.name].endpoint, each.advertised
            found.append(
                each._replace(
                    endpoint=bound,
                    advertised=Endpoint(advertised_endpoint.host, advertised_endpoint.port or bound.port),
                )
            )
        return tuple(found)

    def living(self) -> list[int]:
        """Return the id of the broker if it is running here, otherwise an empty list."""
        process = self._processes.get("broker")
        return [self.plan.node_id] if process is not None and self._runs(process) else []

    def broker(self, broker_id: int) -> Broker:
        """Return the broker, which must be running."""
        node = self._nodes["broker"]
        assert isinstance(node, Broker) and broker_id == self.plan.node_id, node
        return node

    @property
    def has_failed(self) -> bool:
        """Whether the broker or the controller of this node has given up."""
        return bool(self.ended_nodes)

    def metrics(self) -> Metrics:
        """Return the current metrics of this node; UsageError before the start."""
        host = self._running_host()

        def read() -> Metrics:
            samples: list[Sample] = []
            for role, node in self._nodes.items():
                if self._runs(self._processes[role]):
                    samples += node.metrics(host.now(), host.processes[self._processes[role]].runner_metrics)
            return Metrics({self.plan.node_id: merge_samples(samples)})

        return self._on_loop(read)

    def is_ready(self) -> bool:
        """Return whether the node serves: the controller has unfenced the broker, or the controller's log is open."""
        node = self._nodes.get("broker") or self._nodes.get("controller")
        if isinstance(node, Broker):
            return node.parts.lifecycle.recovered and not node.parts.lifecycle.fenced
        return isinstance(node, Controller) and node.is_open

    @property
    def waits_for(self) -> str:
        """Description of the condition that a node which is not ready waits for, for a message."""
        if "broker" not in self._nodes:
            return "its metadata log"
        controller = f"the controller at {self.controller_endpoint}"
        lifecycle = self.broker(self.plan.node_id).parts.lifecycle
        error = lifecycle.registration_error
        if error:
            return f"{controller}, which rejects it: {error.name}: {error.text}"
        return controller if lifecycle.epoch < 0 else f"its logs and {controller}"

    # -- lifecycle ----------------------------------------------------------------------------

    def start(self) -> None:
        """Bind the ports and start the node; `wait` waits until it serves.

        Raises UsageError if a port is in use, if the folder belongs to another node or cluster, or if it was started
        before.
        """
        if self._host is not None:
            raise UsageError(f"{self.what} was started already")
        try:
            for each in self._specs():
                self._ports[each.name] = Port(*each.endpoint)
            self._open_folder()
            self._thread.start()
            self._thread.call(self._create_host)
            for process in reversed(self._processes.values()):  # The controller starts first.
                self._thread.wait(self._restart_process(process))
        except BaseException:
            self.close()
            raise

    def wait(self, should_stop: Callable[[], bool] = lambda: False, on_wait: Callable[[], None] = lambda: None) -> bool:
        """Wait until the node serves, and return True; return False if `should_stop` returns True first.

        `should_stop` is called periodically, and `on_wait` after each call of it. Raises the error by which the node
        was lost.
        """
        self._check_may_wait()
        while not self._thread.wait(self._wait_once()):
            if should_stop():
                return False
            on_wait()
        return True

    async def _wait_once(self) -> bool:
        with suppress(TimeoutError):
            host = self._running_host()
            await asyncio.wait_for(
                host.until(lambda: bool(host.crashes) or self.has_failed or self.is_ready()), CHECK_INTERVAL_S
            )
        if self.has_failed or self._running_host().crashes:
            raise self.failure()
        return self.is_ready()

    def stop(self) -> None:
        """Shut down the node cleanly, the broker before the controller, and wait until it has ended."""
        for process in self._processes.values():
            self._thread.wait(self._stop_process(process))

    def close(self) -> None:
        """Kill the node and release its ports and folder; call `stop` first for a clean shutdown."""
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
            cluster_id=self._requested_id,
        )
        self._open_disks, self.cluster_id = self._folders.disks_of, self._folders.cluster_id
        if "controller" in self._processes:
            check_levels(self._folders.paths[NODE_CONTROLLER][0], self._requested_levels)

    def _create_host(self) -> None:
        host = self._host = Host(asyncio.get_running_loop())
        host.on_note = self.on_note
        options = LinkOptions.from_configs(broker_configs(self.configs, {}))
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
