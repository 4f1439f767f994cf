"""The command: the generated files, and the comparison for `--check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from codegen.errors import generate_error_codes
from codegen.lint import lint_file
from codegen.load import ROOT, SchemaError, load
from codegen.lock import generate_lock, read_lock
from codegen.messages import generate_message
from codegen.registry import generate_api_keys, generate_package, generate_registry
from codegen.upstream import UpstreamError, compare, read_upstream

GENERATED = "kmirror/protocol/gen"
LOCK = "schemas/LOCK.json"
ERROR_CODES = "kmirror/spec/error_codes.py"
API_KEYS = "kmirror/spec/api_keys.py"


def build() -> dict[str, str]:
    """Return every generated file with its text, by path from the root."""
    schemas = load()
    files = {f"{GENERATED}/{m.module}.py": generate_message(m) for m in schemas.live()}
    files[f"{GENERATED}/registry.py"] = generate_registry(schemas, read_lock()["kafka"]["version"])
    files[f"{GENERATED}/__init__.py"] = generate_package(schemas)
    files[ERROR_CODES] = generate_error_codes()
    files[API_KEYS] = generate_api_keys(schemas)
    files[LOCK] = generate_lock()
    return files


def differences(files: dict[str, str], root: Path = ROOT) -> list[str]:
    """Return one line for each generated file that is stale, missing or extra on disk."""
    found = []
    for path, text in sorted(files.items()):
        disk = root / path
        if not disk.exists():
            found.append(f"missing: {path}")
        elif disk.read_bytes() != text.encode():
            found.append(f"stale: {path}")
    for disk in sorted((root / GENERATED).rglob("*")):
        path = disk.relative_to(root).as_posix()
        if disk.is_file() and "__pycache__" not in disk.parts and path not in files:
            found.append(f"extra: {path}")
    return found


def write(files: dict[str, str], root: Path = ROOT) -> int:
    """Write `files` to disk, remove extra ones, and return the number of files that changed."""
    changed = differences(files, root)
    for line in changed:
        kind, _, path = line.partition(": ")
        if kind == "extra":
            (root / path).unlink()
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(files[path].encode())
    return len(changed)


def main(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    if arguments[:1] == ["lint"]:
        return lint(arguments[1:])
    if arguments[:1] == ["upstream"]:
        return upstream(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m codegen",
        description="Generate kmirror/protocol/gen from schemas/.",
        epilog="also: python -m codegen lint FILE... | upstream PATH",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if anything would change")
    options = parser.parse_args(arguments)
    try:
        files = build()
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        found = differences(files)
        for line in found:
            print(line, file=sys.stderr)
        if found:
            print("generated code is not fresh: run python -m codegen", file=sys.stderr)
        return 1 if found else 0
    print(f"{write(files)} of {len(files)} generated files changed")
    return 0


def lint(arguments: list[str]) -> int:
    """Print the faults of each file; return 1 if any has a fault, 2 if one cannot be read, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m codegen lint",
        description="Name every fault of schemas: JSON files, or texts that quote schemas, such as a KIP's page.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    faults = []
    for path in parser.parse_args(arguments).files:
        try:
            faults += lint_file(path)
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def upstream(arguments: list[str]) -> int:
    """Print the differences from a Kafka release; return 1 if there is one, 2 if the path holds no schemas, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m codegen upstream",
        description="Name every difference in facts between schemas/ and a Kafka release.",
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a jar, a folder of jars, or a source tree")
    path = parser.parse_args(arguments).path
    try:
        found = compare(read_upstream(path))
    except UpstreamError as error:
        print(error, file=sys.stderr)
        return 2
    for difference in found:
        print(difference)
    if found:
        locked = read_lock()["kafka"]["version"]
        print(f"{len(found)} differences from Kafka {locked}, which the schemas are locked to", file=sys.stderr)
    return 1 if found else 0
