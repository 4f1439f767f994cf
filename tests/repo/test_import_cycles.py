"""Import cycles: no package has one, of files or of folders, and hidden ones are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.import_cycles import cycles_of, folder_cycles_of
from tests.repo.layers import RANK
from tests.repo.sources import Source, sources


@pytest.mark.parametrize("package", RANK)
def test_a_package_has_no_cycle(package: str, root: Path) -> None:
    found = cycles_of(package, sources(root, "kmirror"))
    assert not found, "\n".join(map(" ".join, found))


@pytest.mark.parametrize("package", RANK)
def test_the_folders_of_a_package_have_no_cycle(package: str, root: Path) -> None:
    found = folder_cycles_of(package, sources(root, "kmirror"))
    assert not found, "\n".join(map(" ".join, found))


def files(**texts: str) -> list[Source]:
    return [Source(f"kmirror/log/{name}.py", text) for name, text in texts.items()]


LAZY = "def f():\n    from kmirror.log.a import y"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kmirror.log import a"


@pytest.mark.parametrize("back", ["from kmirror.log.a import y", "from . import a", LAZY, TYPES])
def test_a_hidden_cycle_is_found(back: str) -> None:
    found = cycles_of("log", files(a="from kmirror.log.b import x", b="from kmirror.log.c import x", c=back, d=TYPES))
    assert found == [["kmirror.log.a", "kmirror.log.b", "kmirror.log.c"]]


def test_two_cycles_that_touch_in_one_direction_are_two() -> None:
    to = "from kmirror.log import {}".format
    found = cycles_of("log", files(a=to("b"), b=to("a, c"), c=to("d"), d=to("e"), e=to("c"), f=to("a, g"), g=to("c")))
    assert [len(cycle) for cycle in found] == [3, 2]


def test_imports_in_one_direction_are_no_cycle() -> None:
    to = "from kmirror.log import {}".format
    assert cycles_of("log", files(a=to("b, c"), b=to("c"), c="import kmirror.cluster.a", d=to("a"))) == []


def tree(**texts: str) -> list[Source]:
    """Return files of `log`: `a_b` means `a/b`, and `a_` the `__init__` of folder `a`."""
    paths = {name: name.replace("_", "/") + ("__init__" if name.endswith("_") else "") for name in texts}
    return [Source(f"kmirror/log/{paths[name]}.py", text) for name, text in texts.items()]


TO = "from kmirror.log.{} import x".format


def test_folders_form_a_cycle_though_their_files_form_none() -> None:
    found = tree(a_b=TO("c.d"), c_d="", c_e=TO("a.f"), a_f="", g=TO("a.b"))
    assert cycles_of("log", found) == []
    assert folder_cycles_of("log", found) == [["kmirror.log.a", "kmirror.log.c"]]


def test_a_folder_and_a_file_beside_it_form_a_cycle() -> None:
    found = tree(a_b=TO("c"), c=TO("a.d"), a_d="")
    assert folder_cycles_of("log", found) == [["kmirror.log.a", "kmirror.log.c"]]


@pytest.mark.parametrize("back", [LAZY.replace("log.a", "log.a.f"), TYPES.replace("log import a", "log.a import f")])
def test_a_hidden_cycle_of_folders_is_found(back: str) -> None:
    assert folder_cycles_of("log", tree(a_b=TO("c.d"), c_d="", c_e=back, a_f="")) == [
        ["kmirror.log.a", "kmirror.log.c"]
    ]


def test_folders_within_a_folder_are_checked_too() -> None:
    found = tree(a_b_c=TO("a.d.e"), a_d_e="", a_d_f=TO("a.b.g"), a_b_g="")
    assert folder_cycles_of("log", found) == [["kmirror.log.a.b", "kmirror.log.a.d"]]


def test_an_init_is_a_file_like_others() -> None:
    assert folder_cycles_of("log", tree(a_=TO("a.b"), a_b="from kmirror.log.a import x")) == [
        ["kmirror.log.a.__init__", "kmirror.log.a.b"]
    ]
    assert folder_cycles_of("log", tree(a_=TO("a.b"), a_b=TO("c"), c="", d=TO("a"))) == []


def test_a_folder_may_use_the_files_beside_it() -> None:
    assert folder_cycles_of("log", tree(a_b=TO("c"), a_d_e=TO("a.b"), c="", f=TO("a.d.e"))) == []
