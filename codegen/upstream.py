"""Comparison of the schemas with those of a Kafka release.

The release is a jar, a folder of jars or a source tree. Facts are compared, not texts: comments, `about`, the order of
keys and flags that are false are ignored. The additions of schemas/mirroring/ are ignored too.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.load import RELEASE_FOLDERS, SCHEMAS, mirroring_keys, read_files
from codegen.lock import artifact_of
from codegen.rules import MESSAGE_TYPES
from codegen.schema import FieldType, load_json
from codegen.versions import NONE, Versions


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; `kind` is new message, gone message, new versions, changed message, or new/gone/changed field."""

    kind: str
    message: str
    field: str
    text: str

    def __str__(self) -> str:
        location = f"{self.message}: {self.field}" if self.field else self.message
        return f"{self.kind}: {location}: {self.text}" if self.text else f"{self.kind}: {location}"


class UpstreamError(Exception):
    """The path holds no schemas."""


def read_upstream(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return every message schema under `path`, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for source, text in _texts(path):
        try:
            raw = load_json(text)
        except ValueError as error:
            raise UpstreamError(f"{source}: this is not JSON: {error}") from None
        if isinstance(raw, Mapping) and raw.get("type") in MESSAGE_TYPES and isinstance(raw.get("name"), str):
            found[raw["name"]] = raw
    if not found:
        raise UpstreamError(f"{path}: there are no message schemas in it")
    return found


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_file():
        yield from _jar_texts(path)
        return
    if not path.is_dir():
        raise UpstreamError(f"{path}: there is no such file or folder")
    jars = sorted(path.glob("*.jar"))
    for jar in jars:
        yield from _jar_texts(jar)
    if not jars:
        for file in sorted(path.rglob("*.json")):
            # Test resources contain samples, some of them wrong on purpose.
            if "test" not in file.parts and _is_schema(file.as_posix()):
                yield str(file), file.read_text(encoding="utf-8")


def _jar_texts(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with zipfile.ZipFile(path) as jar:
            for name in sorted(jar.namelist()):
                if _is_schema(name):
                    yield f"{path}!{name}", jar.read(name).decode("utf-8")
    except (zipfile.BadZipFile, OSError) as error:
        raise UpstreamError(f"{path}: {error}") from None


def _is_schema(name: str) -> bool:
    folder = name.rpartition("/")[0]
    return name.endswith(".json") and folder.endswith(("message", "common/metadata"))


def compare(theirs: Mapping[str, Mapping[str, Any]], root: Path = SCHEMAS) -> list[Difference]:
    """Return every difference between a release and schemas/; messages of a jar that is absent are not compared."""
    ours = {f.raw["name"]: (f.folder, f.raw) for f in read_files(root, RELEASE_FOLDERS)}
    present = {artifact_of(folder, name) for name, (folder, _) in ours.items() if name in theirs}
    found: list[Difference] = []
    for name in sorted({*ours, *theirs}):
        if name not in ours:
            found.append(Difference("new message", name, "", _summary(theirs[name], root)))
        elif name in theirs:
            found += _compare_message(name, ours[name][1], theirs[name])
        elif artifact_of(ours[name][0], name) in present:
            found.append(Difference("gone message", name, "", ""))
    return found


def _summary(raw: Mapping[str, Any], root: Path) -> str:
    key = f", key {raw['apiKey']}" if "apiKey" in raw else ""
    owners = [name for name, number in mirroring_keys(root).items() if number == raw.get("apiKey")]
    clash = f" (the key is {owners[0]}'s in mirroring.json)" if owners and raw["type"] == "request" else ""
    return f"{raw['type']}{key}, versions {raw.get('validVersions')}{clash}"


def _compare_message(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    found = []
    before, after = _facts(ours), _facts(theirs)
    for key in sorted({*before, *after} - {"validVersions"}):
        if before.get(key) != after.get(key):
            text = f"{key} {_value_text(before.get(key))} -> {_value_text(after.get(key))}"
            found.append(Difference("changed message", name, "", text))
    old, new = ours.get("validVersions", "none"), theirs.get("validVersions", "none")
    if old != new:
        kind = "new versions" if _is_wider(old, new) else "changed message"
        found.append(Difference(kind, name, "", f"versions {old} -> {new}"))
    found += _compare_fields(name, "", ours.get("fields", ()), theirs.get("fields", ()))
    commons = [{s["name"]: s for s in raw.get("commonStructs", ())} for raw in (ours, theirs)]
    for struct in sorted({*commons[0], *commons[1]}):
        structs = [common.get(struct) for common in commons]
        if structs[0] is None or structs[1] is None:
            kind = "new field" if structs[0] is None else "gone field"
            found.append(Difference(kind, name, struct, "common struct"))
            continue
        if structs[0]["versions"] != structs[1]["versions"]:
            text = f"versions {structs[0]['versions']} -> {structs[1]['versions']}"
            found.append(Difference("changed field", name, struct, text))
        found += _compare_fields(name, struct, structs[0]["fields"], structs[1]["fields"])
    return found


def _is_wider(old: str, new: str) -> bool:
    try:
        before, after = Versions.parse(old), Versions.parse(new)
    except ValueError:
        return False
    return after.covers(before) and before != NONE


def _compare_fields(message: str, prefix: str, ours: Any, theirs: Any) -> list[Difference]:
    found = []
    before = {f["name"]: f for f in ours}
    after = {f["name"]: f for f in theirs}
    for name in [*before, *(n for n in after if n not in before)]:
        path = f"{prefix}.{name}" if prefix else name
        if name not in after:
            found.append(Difference("gone field", message, path, ""))
        elif name not in before:
            found.append(Difference("new field", message, path, _field_summary(after[name])))
        else:
            found += _compare_field(message, path, before[name], after[name])
    shared = [name for name in before if name in after]
    if shared != [name for name in after if name in before]:
        found.append(Difference("changed message", message, prefix, "the order of fields"))
    return found


def _compare_field(message: str, path: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    found = []
    before, after = _facts(ours), _facts(theirs)
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            text = f"{key} {_value_text(before.get(key))} -> {_value_text(after.get(key))}"
            found.append(Difference("changed field", message, path, text))
    found += _compare_fields(message, path, ours.get("fields", ()), theirs.get("fields", ()))
    return found


def _facts(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts to compare, without those that are compared one by one."""
    facts = {}
    for key, value in raw.items():
        if key in ("about", "fields", "commonStructs") or value is None:
            continue
        if key == "default":
            value = str(value).lower() if isinstance(value, bool) else str(value)
        if value is False:
            continue
        if key == "listeners":
            value = sorted(value)
        if key == "validVersions" and "versions" not in raw:
            continue
        facts[key] = value
    if "taggedVersions" in facts:
        facts.setdefault("versions", facts["taggedVersions"])
    return facts


def _value_text(value: Any) -> str:
    return "nothing" if value is None else f"{value}"


def _field_summary(raw: Mapping[str, Any]) -> str:
    words = [str(FieldType.parse(raw["type"])), f"versions {raw.get('versions', raw.get('taggedVersions'))}"]
    words += [f"tag {raw['tag']}"] if "tag" in raw else []
    words += [f"default {raw['default']}"] if raw.get("default") is not None else []
    return ", ".join(words)
