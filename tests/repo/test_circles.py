"""Import circles: no package has one, and one is found however it is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.circles import circles_of
from tests.repo.layers import RANK
from tests.repo.sources import Source, sources


@pytest.mark.parametrize("package", RANK)
def test_a_package_has_no_circle(package: str, root: Path) -> None:
    found = circles_of(package, sources(root, "kmirror"))
    assert not found, "\n".join(map(" ".join, found))


def files(**texts: str) -> list[Source]:
    return [Source(f"kmirror/log/{name}.py", text) for name, text in texts.items()]


LAZY = "def f():\n    from kmirror.log.a import y"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kmirror.log import a"


@pytest.mark.parametrize("back", ["from kmirror.log.a import y", "from . import a", LAZY, TYPES])
def test_a_circle_is_found_however_it_is_hidden(back: str) -> None:
    found = circles_of("log", files(a="from kmirror.log.b import x", b="from kmirror.log.c import x", c=back, d=TYPES))
    assert found == [["kmirror.log.a", "kmirror.log.b", "kmirror.log.c"]]


def test_two_circles_that_touch_in_one_direction_are_two() -> None:
    to = "from kmirror.log import {}".format
    found = circles_of("log", files(a=to("b"), b=to("a, c"), c=to("d"), d=to("e"), e=to("c"), f=to("a, g"), g=to("c")))
    assert [len(circle) for circle in found] == [3, 2]


def test_imports_in_one_direction_are_no_circle() -> None:
    to = "from kmirror.log import {}".format
    assert circles_of("log", files(a=to("b, c"), b=to("c"), c="import kmirror.cluster.a", d=to("a"))) == []
