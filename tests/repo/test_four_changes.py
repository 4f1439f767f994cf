"""The files that four usual changes touch, tested in a copy of the package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

COORDINATOR = '''"""A coordinator of nothing."""

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.component import BrokerComponent
from kmirror.kernel.ids import TopicPartition


class EmptyCoordinator(BrokerComponent):
    name = "empty"

    def __init__(self, parts: BrokerParts) -> None:
        self.context = parts.context

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        return TopicPartition("__empty", 0) if key_type == 99 else None
'''
HANDLER = '''"""ListConfigResources, version 0: no resource."""

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.list_config_resources_request import ListConfigResourcesRequest
from kmirror.protocol.gen.list_config_resources_response import ListConfigResourcesResponse


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[ListConfigResourcesRequest]) -> None:
    inbound.reply(ListConfigResourcesResponse())
'''
SEEN = """
import kmirror
from kmirror.cluster.coordinators.empty.component import EmptyCoordinator
from kmirror.cluster.images import Delta, MetadataImage, SnapshotRecords
from kmirror.protocol.gen.list_config_resources_request import ListConfigResourcesRequest
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.spec.configs import Configs, Scope

simulation = kmirror.Simulation(seed=1)
cluster = kmirror.Cluster(simulation, "a", brokers=1)
cluster.start()
components = cluster.broker(1).parts.components
assert components.get(EmptyCoordinator).context.node_id == 1
assert components.coordinator_for(99, "key").topic == "__empty"

image, left = MetadataImage(), SnapshotRecords()
image.apply(NoOpRecord(), Delta())
left.merge(NoOpRecord(), 0)
assert len(image.controllers.latest) == len(list(left.records())) == 1

assert Configs(Scope.BROKER, {}).integer("group.of.nothing") == 7

parts = cluster.broker(1).parts
assert ListConfigResourcesRequest in parts.server.routes
assert ListConfigResourcesRequest.API_KEY in parts.context.api_versions()
"""


class Copy:
    """A copy of the package, and its files that were changed since `begin`."""

    def __init__(self, root: Path, copy: Path) -> None:
        shutil.copytree(root / "kmirror", copy / "kmirror", ignore=shutil.ignore_patterns("__pycache__", "sample"))
        self._copy = copy
        self._package = copy / "kmirror"
        self.changed: list[str] = []

    def begin(self) -> None:
        self.changed = []

    def add(self, path: str, text: str) -> None:
        file = self._package / path
        file.parent.mkdir(exist_ok=True)
        assert not file.exists(), path
        file.write_text(text)
        self.changed.append(path)

    def put(self, path: str, before: str, text: str) -> None:
        """Put a text in front of the first occurrence of `before`."""
        file = self._package / path
        old = file.read_text()
        assert before in old, (path, before)
        file.write_text(old.replace(before, text + before, 1))
        self.changed.append(path)

    def run(self, script: str, *more: Path) -> None:
        """Run a script that imports the copy, and modules in the folders `more`."""
        path = ":".join(map(str, (self._copy, *more)))
        subprocess.run([sys.executable, "-c", script], cwd=self._copy, env={"PYTHONPATH": path}, check=True)


def test_a_usual_change_touches_few_files(root: Path, tmp_path: Path) -> None:
    copy = Copy(root, tmp_path)

    copy.begin()  # A coordinator: one folder, and the row that plugs it in.
    copy.add("cluster/coordinators/empty/__init__.py", "")
    copy.add("cluster/coordinators/empty/component.py", COORDINATOR)
    plugins = "cluster/coordinators/plugins.py"
    copy.put(plugins, "COORDINATORS:", "from kmirror.cluster.coordinators.empty.component import EmptyCoordinator\n\n")
    copy.put(plugins, "    TransactionComponent,\n", "    EmptyCoordinator,\n")
    assert all(path.startswith("cluster/coordinators/") for path in copy.changed)

    copy.begin()  # A metadata record of an aspect: the aspect's file.
    aspect = "cluster/images/controllers.py"
    copy.put(aspect, "CONTROLLERS = ", "from kmirror.protocol.gen.no_op_record import NoOpRecord\n\n")
    copy.put(aspect, "RegisterControllerRecord: lambda", "NoOpRecord: lambda record: 'none', ")
    assert set(copy.changed) == {aspect}

    copy.begin()  # A config key: its owner's file.
    row = '    ConfigKey("group.of.nothing", _B, Kind.INT, "7", "Read by no part."),\n'
    copy.put("spec/configs/groups.py", '    ConfigKey(\n        "offset.metadata.max.bytes"', row)
    assert copy.changed == ["spec/configs/groups.py"]

    copy.begin()  # An API: its handler, its route, and the row with its versions.
    copy.add("cluster/broker/apis/list_config_resources.py", HANDLER)
    routes = "cluster/broker/apis/routes.py"
    names = "list_config_resources_request import ListConfigResourcesRequest"
    copy.put(routes, "    list_offsets,\n", "    list_config_resources,\n")
    copy.put(routes, "from kmirror.protocol.gen.list_offsets_request", f"from kmirror.protocol.gen.{names}\n")
    copy.put(routes, "    ProduceRequest: ", "    ListConfigResourcesRequest: list_config_resources.handle,\n")
    copy.put("spec/apis.py", '    ApiRow("ListOffsets"', '    ApiRow("ListConfigResources", 0, 1, _BROKER),\n')
    assert len(set(copy.changed)) == 3

    copy.run(SEEN)
