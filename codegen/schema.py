"""Schema files as frozen values: a message, its structs and their fields.

The files are in Kafka's dialect (JSON with comments). `rules.check` checks an object before it is built here, so this
module refuses only invalid JSON.

One extension is kmirror's: a file in schemas/mirroring/ with `"extends": "FetchRequest"` defines no new message. It
changes `validVersions` of the named message and adds fields to its structs, so that the file of the locked release
stays unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from codegen.versions import ALL, NONE, Versions

SCALARS = (
    "bool",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "float64",
    "uuid",
    "string",
    "bytes",
    "records",
)

# Width in bytes of types that have the same width in every version.
FIXED_WIDTH = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
    "float64": 8, "uuid": 16,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FieldType:
    """`base` is the name of a scalar or a struct."""

    base: str
    is_array: bool

    @staticmethod
    def parse(text: str) -> FieldType:
        return FieldType(text[2:], True) if text.startswith("[]") else FieldType(text, False)

    @property
    def is_struct(self) -> bool:
        return self.base not in SCALARS

    @property
    def width(self) -> int:
        """Return the width of every value on the wire in bytes, 0 if it varies."""
        return 0 if self.is_array else FIXED_WIDTH.get(self.base, 0)

    def __str__(self) -> str:
        return f"[]{self.base}" if self.is_array else self.base


@dataclass(frozen=True, slots=True)
class FieldSpec:
    name: str
    type: FieldType
    versions: Versions
    nullable: Versions = NONE
    tagged: Versions = NONE
    tag: int | None = None
    default: str | None = None  # As written in the file; None if absent.
    ignorable: bool = False
    map_key: bool = False
    entity_type: str | None = None
    flexible: Versions | None = None  # Overrides the message's flexible versions.
    zero_copy: bool = False
    about: str = ""
    fields: tuple[FieldSpec, ...] | None = None  # Fields of a struct that is declared inline.

    @property
    def attribute(self) -> str:
        return snake_case(self.name)

    @property
    def default_is_null(self) -> bool:
        # A string may default to the text "null" only where null is not allowed, and none does.
        return self.default == "null" or (self.type.base == "records" and not self.type.is_array)


@dataclass(frozen=True, slots=True)
class StructSpec:
    """A struct with all versions in which it can occur."""

    name: str
    versions: Versions
    fields: tuple[FieldSpec, ...]
    about: str = ""

    def ordinary(self, version: int) -> Iterator[FieldSpec]:
        """Return the fields in wire order that are not tagged in `version`."""
        return (f for f in self.fields if version in f.versions and version not in f.tagged)

    def tagged(self, version: int) -> list[FieldSpec]:
        """Return the fields of the tagged section in `version`, by tag."""
        return sorted((f for f in self.fields if version in f.tagged), key=lambda f: f.tag or 0)


@dataclass(frozen=True, slots=True)
class MessageSpec:
    name: str
    type: str
    valid: Versions
    flexible: Versions
    fields: tuple[FieldSpec, ...]
    api_key: int | None = None
    listeners: tuple[str, ...] = ()
    latest_version_unstable: bool = False
    common: tuple[StructSpec, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return snake_case(self.name)

    @property
    def root(self) -> StructSpec:
        return StructSpec(self.name, self.valid, self.fields, self.about)

    def structs(self) -> list[StructSpec]:
        """Return every struct, dependencies first, the message itself last."""
        common = {s.name: s for s in self.common}
        found: dict[str, StructSpec] = {}

        def visit(struct: StructSpec) -> None:
            for field in struct.fields:
                if not field.type.is_struct or field.type.base in found:
                    continue
                if field.fields is None:
                    declared = common[field.type.base]
                    versions = self.valid.intersect(declared.versions)
                    visit(replace(declared, versions=versions))
                else:
                    # An inline struct exists in the versions of its field.
                    visit(StructSpec(field.type.base, struct.versions.intersect(field.versions), field.fields))
            found[struct.name] = struct

        visit(self.root)
        return list(found.values())

    def struct(self, name: str) -> StructSpec:
        return next(s for s in self.structs() if s.name == name)


def snake_case(name: str) -> str:
    """Return the Python name: `v3_and_below_topics` for `v3AndBelowTopics`, `kraft_version` for `KRaftVersion`."""
    name = name.replace("KRaft", "Kraft")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def json_name(name: str) -> str:
    """Return the name in Kafka's JSON form."""
    return name[0].lower() + name[1:]


def strip_comments(text: str) -> str:
    """Return `text` with `//` and `/* */` comments replaced by blanks, so that line numbers do not change."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


class DuplicateKeyError(ValueError):
    pass


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise DuplicateKeyError(f"the key {duplicate!r} stands twice in one object")
    return found


def load_json(text: str) -> Any:
    """Return the JSON value of `text`, which may have comments; raises `ValueError` if it is invalid."""
    return json.loads(strip_comments(text), object_pairs_hook=_refuse_duplicates)


def build_message(raw: Mapping[str, Any], source: str) -> MessageSpec:
    """Return the message that a checked object describes."""
    return MessageSpec(
        name=raw["name"],
        type=raw["type"],
        valid=Versions.parse(raw["validVersions"]),
        flexible=Versions.parse(raw.get("flexibleVersions", "none")),
        fields=_fields(raw.get("fields", ())),
        api_key=raw.get("apiKey"),
        listeners=tuple(raw.get("listeners", ())),
        latest_version_unstable=raw.get("latestVersionUnstable", False),
        common=tuple(
            StructSpec(s["name"], Versions.parse(s["versions"]), _fields(s["fields"]), s.get("about", ""))
            for s in raw.get("commonStructs", ())
        ),
        about=raw.get("about", ""),
        sources=(source,),
    )


def _fields(raws: Any) -> tuple[FieldSpec, ...]:
    return tuple(_field(raw) for raw in raws)


def _field(raw: Mapping[str, Any]) -> FieldSpec:
    tagged = Versions.parse(raw.get("taggedVersions", "none"))
    default = raw.get("default")
    if isinstance(default, bool):
        default = "true" if default else "false"
    return FieldSpec(
        name=raw["name"],
        type=FieldType.parse(raw["type"]),
        versions=Versions.parse(raw["versions"]) if "versions" in raw else tagged,
        nullable=Versions.parse(raw.get("nullableVersions", "none")),
        tagged=tagged,
        tag=raw.get("tag"),
        # As in Kafka, a JSON null means no default.
        default=None if default is None else str(default),
        ignorable=raw.get("ignorable", False),
        map_key=raw.get("mapKey", False),
        entity_type=raw.get("entityType"),
        flexible=Versions.parse(raw["flexibleVersions"]) if "flexibleVersions" in raw else None,
        zero_copy=raw.get("zeroCopy", False),
        about=raw.get("about", ""),
        fields=_fields(raw["fields"]) if "fields" in raw else None,
    )


def extend_message(base: MessageSpec, raw: Mapping[str, Any], source: str) -> MessageSpec:
    """Return `base` with the versions and fields of an `extends` file."""
    extended = replace(base, valid=Versions.parse(raw["validVersions"]), sources=(*base.sources, source))
    for addition in raw.get("add", ()):
        extended = replace(
            extended,
            fields=_extend(extended.name, extended.fields, addition["into"], _fields(addition["fields"])),
        )
    return extended


def _extend(
    name: str, fields: tuple[FieldSpec, ...], target: str, added: tuple[FieldSpec, ...]
) -> tuple[FieldSpec, ...]:
    if name == target:
        return (*fields, *added)
    return tuple(
        f if f.fields is None else replace(f, fields=_extend(f.type.base, f.fields, target, added)) for f in fields
    )


__all__ = [
    "ALL", "DuplicateKeyError", "FieldSpec", "FieldType", "MessageSpec", "StructSpec", "build_message",
    "extend_message", "json_name", "load_json", "snake_case", "strip_comments",
]  # fmt: skip
