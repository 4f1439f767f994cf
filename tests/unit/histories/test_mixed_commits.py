"""The client that commits both in transactions and outside of them: it ends with the applications."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kmirror.histories.mixed_commits import commit_mixed
from kmirror.histories.scripts import Sleep
from kmirror.kernel.rng import Rng


def test_it_begins_nothing_after_the_applications_have_ended() -> None:
    """A group's committed offsets are compared before and after a restart, and this client's commits have no token."""
    scene = SimpleNamespace(writing=True, busy=0, rng=lambda name: Rng(1))
    application: Any = SimpleNamespace(scene=scene, plan=SimpleNamespace(name="x0"), is_writing=lambda: scene.writing)
    script = commit_mixed(application, "gx")
    assert isinstance(next(script), Sleep)
    scene.writing = False
    assert list(script) == []
    assert scene.busy == 0
