"""Clients and nodes have no literal request versions: these are negotiated, or follow from the features."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.sources import Source, sources

PACKAGES = ("client", "cluster", "mirror", "sim")
TAKES_VERSION = {
    "send": (2, 4),
    "call": (2,),
    "ask_controller": (2,),
    "ask": (2,),
    "Ask": (3,),
}
"""Calls that send a request, and the positions of a possible version."""
VERSION_WORDS = frozenset({"version", "version_max"})
"""Keywords for a version; `version_min` may be literal: it is a required minimum for the response."""
ALLOWED = {
    "API_VERSIONS_ASKED": "ApiVersions is what the other versions are learned by; 0 is what every broker serves.",
    "ONLY_ALIVE_LAST": "Histories ask in the oldest version of Metadata on purpose: there no name is all topics.",
}


def spelled_versions(source: Source) -> Iterator[str]:
    """Report integers, or integer constants, used as the version of a request."""
    numbers = _constants(source.tree)
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        places = TAKES_VERSION.get(_name(node.func), ())
        if not places:
            continue
        given = [node.args[place] for place in places if place < len(node.args)]
        given += [word.value for word in node.keywords if word.arg in VERSION_WORDS]
        for one in given:
            number = one.value if isinstance(one, ast.Constant) else numbers.get(_name(one))
            if type(number) is int and _name(one) not in ALLOWED:
                yield f"{source.path}:{one.lineno}: the version {number}"


def _constants(tree: ast.Module) -> dict[str, int]:
    """Return the integer constants of this module, by name."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
            found.update({_name(target): node.value.value for target in node.targets})
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
            found[_name(node.target)] = node.value.value
    return found


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_no_version_of_a_request_is_spelled(root: Path) -> None:
    folders = [f"kmirror/{package}" for package in PACKAGES]
    assert [text for source in sources(root, *folders) for text in spelled_versions(source)] == []


@pytest.mark.parametrize(
    "text",
    [
        "requester.send(now, peer, 'c', body, 7, on_reply)",
        "client.call(endpoint, body, 7)",
        "client.call(endpoint, body, version=7)",
        "remote.send(now, endpoint, 'x', body, on_reply, version_max=7)",
        "broker.ask_controller(now, request, 3, on_reply)",
        "reply = Ask(cluster, endpoint, request, 12)",
        "VERSION = 3\nbroker.ask_controller(now, request, VERSION, on_reply)",
        "VERSION: Final = 3\nclient.call(endpoint, body, VERSION)",
        "class A:\n    VERSION = 3\n    def f(self):\n        self.client.call(endpoint, body, self.VERSION)",
    ],
)
def test_a_version_that_is_spelled_is_found(text: str) -> None:
    assert len(list(spelled_versions(Source("kmirror/sim/a.py", text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "client.call(endpoint, body, timeout_ms=500)",
        "remote.send(now, endpoint, 'x', body, on_reply, version_min=12)",
        "broker.ask_controller(now, request, broker.version_of(request), on_reply)",
        "reply = Ask(cluster, endpoint, request, NAMED_TOPICS_LAST[request.NAME])",
    ],
)
def test_negotiated_versions_are_allowed(text: str) -> None:
    assert list(spelled_versions(Source("kmirror/sim/a.py", text))) == []
