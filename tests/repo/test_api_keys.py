"""API keys are only in the schemas: kmirror contains no literal keys, and a changed key needs one edit."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.sources import Source, sources

KEY_NAMES = frozenset({"api_key", "request_api_key"})
TAKES_KEY = {"find_key": 0, "by_key": 0, "version_served": 0, "decode_response": 1}
"""Functions that take an API key, and its position."""


def spelled_keys(source: Source) -> Iterator[str]:
    """Report integers that are compared with an API key, passed as one, or used to look up handlers."""
    for node in source.nodes:
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            found += sides if any(_name(side) in KEY_NAMES for side in sides) else []
        elif isinstance(node, ast.Call):
            found += [keyword.value for keyword in node.keywords if keyword.arg in KEY_NAMES]
            place = TAKES_KEY.get(_name(node.func), len(node.args))
            found += node.args[place : place + 1]
        elif isinstance(node, ast.Dict) and any(_name(value) in ("handle", "decide") for value in node.values):
            found += node.keys
        for one in found:
            if isinstance(one, ast.Constant) and isinstance(one.value, int):
                yield f"{source.path}:{one.lineno}: the API key {one.value}"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_no_api_key_is_spelled_outside_of_generated_code(root: Path) -> None:
    assert [text for s in sources(root, "kmirror") if not s.is_generated for text in spelled_keys(s)] == []


@pytest.mark.parametrize(
    "text",
    [
        "if head.api_key == 18:\n    pass",
        "x = 1 != request_api_key",
        "x = Pending(peer, api_key=3)",
        "x = by_key(3)",
        "x = registry.find_key(3)",
        "x = decode_response(frame, 1, 12)",
        "X = {94: describe.handle}",
    ],
)
def test_a_key_that_is_spelled_is_found(text: str) -> None:
    assert len(list(spelled_keys(Source("kmirror/cluster/a.py", text)))) == 1


SCENARIO = """
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation

simulation = Simulation(1)
source, destination = Cluster(simulation, "a"), Cluster(simulation, "b")
source.start()
destination.start()
source.create_topic("t", partitions=1)
mirror = Mirror("m", source=source, destination=destination)
mirror.create()
mirror.add_topics(["t"])
mirror.catch_up()
mirror.fail_over()
print(CreateMirrorRequest.API_KEY)
"""


@pytest.mark.decision("D1")
def test_a_release_that_uses_our_api_keys_costs_one_edit(root: Path, tmp_path: Path) -> None:
    """Every key of KIP-1279 gets another number: after codegen a topic is mirrored and failed over as before."""
    for name in ("codegen", "schemas", "kmirror"):
        shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "schemas/mirroring.json"
    raw = json.loads(table.read_text("utf-8"))
    raw["apiKeys"] = {name: key + 100 for name, key in raw["apiKeys"].items()}
    table.write_text(json.dumps(raw), "utf-8")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "codegen")
    assert int(run("-c", SCENARIO)) == raw["apiKeys"]["CreateMirror"]
