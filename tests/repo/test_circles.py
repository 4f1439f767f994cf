"""Import circles: how many there are in each package, and that there come no more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.circles import circles_of
from tests.repo.layers import RANK
from tests.repo.sources import Source, sources

ALLOWED: dict[str, tuple[int, ...]] = {
    "sim": (4,),  # A cluster produces, and knows its simulation.
}
"""The files in each circle of a package, the largest first. A number here may only fall."""


@pytest.mark.parametrize("package", RANK)
def test_a_package_has_no_circle_but_those_that_are_known(package: str, root: Path) -> None:
    found = circles_of(package, sources(root, "kmirror"))
    told = "\n".join(" ".join(circle) for circle in found)
    sizes, allowed = tuple(map(len, found)), ALLOWED.get(package, ())
    assert sum(sizes) <= sum(allowed) and len(sizes) <= len(allowed), f"a new circle, or a larger one:\n{told}"
    assert sizes == allowed, f"fewer than ALLOWED says, so write {sizes} there:\n{told}"


def test_packages_in_the_table_exist() -> None:
    assert set(ALLOWED) <= set(RANK)


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
