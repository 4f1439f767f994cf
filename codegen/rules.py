"""Rules for legal schemas. All faults are reported at once, each with file and field.

Kafka's own generator refuses the same schemas, with one fault per run; `tests/data/schemas` has its output for about a
thousand objects. Some schemas that it accepts are refused here, as no author can intend them: a reversed version range,
a struct that is not declared, a default of records, which it ignores, an integer with a leading zero (Java then reads
an octal one), values of another JSON type than the key's (a number as text, null), and blanks around a type. It does
not know the extensions of kmirror and the KIP: `extends`, `about` of a message, the entity type `mirrorName`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codegen.numbers import INTEGER_RANGES, parse_double, parse_integer
from codegen.schema import SCALARS, FieldType
from codegen.versions import ALL, NONE, Versions

MESSAGE_TYPES = (
    "request",
    "response",
    "header",
    "metadata",
    "data",
    "coordinator-key",
    "coordinator-value",
)
WITH_API_KEY = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
LISTENERS = ("broker", "controller")
# The scalar type of each entity type; `unknown` allows any.
ENTITY_TYPES = {
    "topicName": "string",
    "groupId": "string",
    "transactionalId": "string",
    "mirrorName": "string",  # Of KIP-1279.
    "brokerId": "int32",
    "producerId": "int64",
    "unknown": None,
}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")

# Key to the JSON type of its value. Numbers are accepted as defaults although the files use text.
MESSAGE_KEYS: dict[str, tuple[type, ...]] = {
    "apiKey": (int,), "type": (str,), "listeners": (list,), "name": (str,), "validVersions": (str,),
    "flexibleVersions": (str,), "latestVersionUnstable": (bool,), "fields": (list,), "commonStructs": (list,),
    "deprecatedVersions": (str,), "about": (str,),
}  # fmt: skip
STRUCT_KEYS: dict[str, tuple[type, ...]] = {
    "name": (str,), "versions": (str,), "deprecatedVersions": (str,), "fields": (list,), "about": (str,),
}  # fmt: skip
FIELD_KEYS: dict[str, tuple[type, ...]] = {
    "name": (str,), "type": (str,), "versions": (str,), "nullableVersions": (str,), "taggedVersions": (str,),
    "tag": (int,), "default": (str, int, float, bool, type(None)), "ignorable": (bool,), "mapKey": (bool,),
    "entityType": (str,), "flexibleVersions": (str,), "zeroCopy": (bool,), "about": (str,), "fields": (list,),
}  # fmt: skip
EXTENSION_KEYS: dict[str, tuple[type, ...]] = {"extends": (str,), "validVersions": (str,), "add": (list,)}


class _FieldVersions(NamedTuple):
    """Versions in which a field exists, is tagged, is nullable, and has the flexible form."""

    present: Versions
    tagged: Versions
    nullable: Versions
    flexible: Versions


@dataclass(frozen=True, slots=True)
class Fault:
    """`field` is a path of schema names, empty for the message itself."""

    source: str
    message: str
    field: str
    text: str

    def __str__(self) -> str:
        location = ": ".join(part for part in (self.source, self.message, self.field) if part)
        return f"{location}: {self.text}"


def check_message(raw: Any, source: str) -> list[Fault]:
    """Return every fault of one schema object."""
    if not isinstance(raw, Mapping):
        return [Fault(source, "", "", "a JSON object is expected")]
    checker = _Checker(raw, source)
    checker.check_message()
    return checker.faults


def check_field(raw: Mapping[str, Any], source: str) -> list[Fault]:
    """Return every fault of a field without its message, as quoted in a KIP."""
    checker = _Checker({}, source)
    checker.flexible = ALL
    checker.is_fragment = True
    checker.check_fields([raw], "", ALL, is_root=False)
    return checker.faults


def check_keys(raws: Sequence[tuple[Mapping[str, Any], str]]) -> list[Fault]:
    """Return a fault for any two requests, or two responses, that claim one API key."""
    claims: dict[tuple[str, int], str] = {}
    faults = []
    for raw, source in raws:
        kind, key = raw.get("type"), raw.get("apiKey")
        if kind not in ("request", "response") or not isinstance(key, int):
            continue
        other = claims.setdefault((kind, key), raw.get("name", ""))
        if other != raw.get("name", ""):
            faults.append(Fault(source, raw.get("name", ""), "", f"API key {key} is claimed by {other}"))
    return faults


class _Checker:
    def __init__(self, raw: Mapping[str, Any], source: str) -> None:
        self.raw = raw
        self.source = source
        self.name = raw["name"] if isinstance(raw.get("name"), str) else ""
        self.faults: list[Fault] = []
        self.flexible = NONE
        self.inline: set[str] = set()
        self.common: set[str] = set()
        self.references: list[tuple[str, str]] = []
        self.is_fragment = False

    def add_fault(self, field: str, text: str) -> None:
        self.faults.append(Fault(self.source, self.name, field, text))

    # -- the message ------------------------------------------------------

    def check_message(self) -> None:
        raw = self.raw
        self.check_keys(raw, MESSAGE_KEYS, "")
        self.check_struct_name(raw.get("name"), "")
        kind = raw.get("type")
        if kind not in MESSAGE_TYPES:
            self.add_fault("", f"type {kind!r} is none of {', '.join(MESSAGE_TYPES)}")
        valid = self.read_versions(raw, "validVersions", "")
        if valid is None:
            valid = NONE
        elif valid.is_open:
            self.add_fault("", "validVersions must have an end")
        self.check_flexible_versions(valid)
        self.check_deprecated(raw, "")
        self.check_api_key(kind)
        self.check_kind(kind, valid)
        if "fields" not in raw and valid:
            self.add_fault("", "fields are missing")
        common = self.read_objects(raw.get("commonStructs", []), "commonStructs")
        self.declare_common(common)
        self.check_fields(raw.get("fields", []), "", valid, is_root=True)
        for struct in common:
            versions = self.read_versions(struct, "versions", str(struct.get("name", "")))
            name = str(struct.get("name", ""))
            self.check_fields(struct.get("fields", []), name, versions or NONE, is_root=False)
        for field, struct_name in self.references:
            if struct_name not in self.inline | self.common:
                self.add_fault(field, f"the struct {struct_name} is declared nowhere")

    def check_flexible_versions(self, valid: Versions) -> None:
        if "flexibleVersions" not in self.raw:
            if valid:
                self.add_fault("", "flexibleVersions is missing: a range without an end, or none")
            return
        flexible = self.read_versions(self.raw, "flexibleVersions", "")
        if flexible is None:
            return
        if flexible and not flexible.is_open:
            self.add_fault("", f"flexibleVersions {flexible} must be without an end, or none")
        self.flexible = flexible

    def check_deprecated(self, raw: Mapping[str, Any], field: str) -> None:
        if isinstance(raw.get("deprecatedVersions"), str):
            self.read_versions(raw, "deprecatedVersions", field)

    def check_api_key(self, kind: Any) -> None:
        key = self.raw.get("apiKey")
        if "apiKey" not in self.raw:
            if kind in WITH_API_KEY:
                self.add_fault("", f"a {kind} needs an apiKey")
        elif isinstance(key, int) and not _fits(key, "int16"):
            self.add_fault("", f"the apiKey {key} does not fit into int16")
        if kind == "request" and NAME.match(self.name) and not self.name.endswith("Request"):
            self.add_fault("", f"the name {self.name!r} of a request must end with Request")

    def check_kind(self, kind: Any, valid: Versions) -> None:
        raw = self.raw
        if kind != "request":
            for key in ("listeners", "latestVersionUnstable"):
                if raw.get(key):
                    self.add_fault("", f"only a request has {key}")
        listeners = raw.get("listeners")
        for listener in listeners if isinstance(listeners, list) else ():
            if listener not in LISTENERS:
                self.add_fault("", f"listener {listener!r} is none of {', '.join(LISTENERS)}")
        if kind == "coordinator-key":
            if valid != Versions(0, 0):
                self.add_fault("", "a coordinator-key has version 0 alone")
            if self.flexible:
                self.add_fault("", "a coordinator-key is never flexible")

    def declare_common(self, structs: list[Mapping[str, Any]]) -> None:
        for struct in structs:
            name = struct.get("name")
            self.check_keys(struct, STRUCT_KEYS, f"commonStructs.{name}")
            self.check_struct_name(name, f"commonStructs.{name}")
            self.check_deprecated(struct, f"commonStructs.{name}")
            if str(name) in self.common:
                self.add_fault(f"commonStructs.{name}", "the struct is declared twice")
            self.common.add(str(name))

    # -- pieces -----------------------------------------------------------

    def check_keys(self, raw: Mapping[str, Any], known: Mapping[str, tuple[type, ...]], field: str) -> None:
        for key, value in raw.items():
            if key not in known:
                self.add_fault(field, f"the key {key!r} is not known")
                continue
            # Python's bool is an int, but a schema's is not.
            is_bool = isinstance(value, bool)
            if not isinstance(value, known[key]) or (is_bool and bool not in known[key]):
                self.add_fault(field, f"{key} has the value {value!r}")

    def read_objects(self, raw: Any, field: str) -> list[Mapping[str, Any]]:
        if not isinstance(raw, list):
            self.add_fault(field, "a list is expected")
            return []
        for item in raw:
            if not isinstance(item, Mapping):
                self.add_fault(field, f"an object is expected, not {item!r}")
        return [item for item in raw if isinstance(item, Mapping)]

    def check_struct_name(self, name: Any, field: str) -> None:
        if not isinstance(name, str) or not name:
            self.add_fault(field, "the name is missing or empty")
        elif not NAME.match(name):
            self.add_fault(field, f"the name {name!r} must be a letter and then letters and digits")
        elif not name[0].isupper():
            self.add_fault(field, f"the name {name!r} must begin with a capital letter")

    def read_versions(self, raw: Mapping[str, Any], key: str, field: str) -> Versions | None:
        text = raw.get(key)
        if not isinstance(text, str):
            self.add_fault(field, f"{key} is missing")
            return None
        try:
            return Versions.parse(text)
        except ValueError as error:
            self.add_fault(field, f"{key}: {error}")
            return None

    # -- fields -----------------------------------------------------------

    def check_fields(self, raws: Any, prefix: str, parent: Versions, *, is_root: bool) -> None:
        names: dict[str, str] = {}
        tags: list[int] = []
        for raw in self.read_objects(raws, prefix or "fields"):
            name = raw.get("name")
            path = f"{prefix}.{name}" if prefix else str(name)
            if not isinstance(name, str) or not name:
                path = f"{prefix}.?" if prefix else "?"
                self.add_fault(path, "the name is missing or empty")
            elif not NAME.match(name):
                self.add_fault(path, f"the name {name!r} must be a letter and then letters and digits")
            else:
                self.check_unique(name, names, path)
            self.check_field(raw, path, is_root=is_root)
            if isinstance(raw.get("tag"), int):
                self.check_tag(raw["tag"], tags, path)
        if sorted(set(tags)) != list(range(len(set(tags)))) and not self.is_fragment:
            self.add_fault(prefix, f"the tags {sorted(tags)} do not run from 0 on without a gap")

    def check_unique(self, name: str, names: dict[str, str], path: str) -> None:
        key = name[0].lower() + name[1:]
        if key in names:
            is_same = names[key] == name
            self.add_fault(
                path,
                "the name stands twice" if is_same else f"differs from {names[key]} only in its first letter",
            )
        names[key] = name

    def check_tag(self, tag: int, tags: list[int], path: str) -> None:
        if tag < 0:
            self.add_fault(path, f"the tag {tag} is negative")
        elif not _fits(tag, "int32"):
            self.add_fault(path, f"the tag {tag} does not fit into int32")
        elif tag in tags:
            self.add_fault(path, f"the tag {tag} stands twice")
        else:
            tags.append(tag)

    def check_field(self, raw: Mapping[str, Any], path: str, *, is_root: bool) -> None:
        self.check_keys(raw, FIELD_KEYS, path)
        tagged = NONE
        if "taggedVersions" in raw:
            tagged = self.read_versions(raw, "taggedVersions", path) or NONE
        if "versions" in raw or not tagged:
            present = self.read_versions(raw, "versions", path)
        else:
            present = tagged
        nullable = NONE
        if "nullableVersions" in raw:
            nullable = self.read_versions(raw, "nullableVersions", path) or NONE
        flexible = self.flexible
        if "flexibleVersions" in raw:
            flexible = self.read_versions(raw, "flexibleVersions", path) or NONE
        type_ = self.read_type(raw, path)
        if type_ is None:
            return
        self.check_nullable(type_, nullable, path)
        if present is not None:
            self.check_tagging(raw, type_, _FieldVersions(present, tagged, nullable, flexible), path)
            self.check_default(raw, type_, present, nullable, path)
        self.check_flags(raw, type_, flexible, path, is_root=is_root)
        if "fields" in raw:
            self.check_fields(raw["fields"], path, present or NONE, is_root=False)

    def read_type(self, raw: Mapping[str, Any], path: str) -> FieldType | None:
        text = raw.get("type")
        if not isinstance(text, str) or not text:
            self.add_fault(path, "the type is missing")
            return None
        type_ = FieldType.parse(text)
        if type_.base.startswith("[]"):
            self.add_fault(path, f"{text}: there are no arrays of arrays")
            return None
        if type_.base == "records" and type_.is_array:
            self.add_fault(path, "there are no arrays of records")
            return None
        if not type_.is_struct:
            if "fields" in raw:
                self.add_fault(path, f"{text} has no fields")
            return type_
        if not NAME.match(type_.base) or not type_.base[0].isupper():
            self.add_fault(path, f"the type {text} is not known")
            return None
        if "fields" in raw:
            if type_.base in self.inline | self.common:
                self.add_fault(path, f"the struct {type_.base} is declared twice")
            self.inline.add(type_.base)
        else:
            self.references.append((path, type_.base))
        return type_

    def check_nullable(self, type_: FieldType, nullable: Versions, path: str) -> None:
        can_be_null = type_.is_array or type_.is_struct or type_.base in ("string", "bytes", "records")
        if nullable and not can_be_null:
            self.add_fault(path, f"{type_} is never null")

    def check_tagging(self, raw: Mapping[str, Any], type_: FieldType, versions: _FieldVersions, path: str) -> None:
        present, tagged, nullable, flexible = versions
        is_tagged = str(raw.get("taggedVersions", "none")).strip() != "none"
        if ("tag" in raw) != is_tagged:
            self.add_fault(path, "tag and taggedVersions go together")
        if not tagged:
            return
        if not tagged.is_open:
            self.add_fault(path, f"taggedVersions {tagged} must be without an end")
        if not present.covers(tagged):
            self.add_fault(path, f"taggedVersions {tagged} go beyond versions {present}")
        if not flexible.covers(tagged):
            self.add_fault(path, f"taggedVersions {tagged} go beyond flexibleVersions {flexible}")
        if nullable.intersect(tagged) and not nullable.covers(tagged):
            self.add_fault(path, f"null in {nullable} but not in all of taggedVersions {tagged}")
        if type_.base == "records":
            self.add_fault(path, "records cannot be tagged")
        if raw.get("mapKey"):
            self.add_fault(path, "a map key cannot be tagged")

    def check_default(
        self, raw: Mapping[str, Any], type_: FieldType, present: Versions, nullable: Versions, path: str
    ) -> None:
        default = raw.get("default")
        if default is None:
            return
        text = str(default).lower() if isinstance(default, bool) else str(default)
        base = type_.base
        can_be_null = type_.is_array or type_.is_struct or base in ("string", "bytes", "records")
        if text == "null" and can_be_null:
            if not nullable.covers(present):
                self.add_fault(path, f"the default is null, but versions {present} are not all nullable")
            return
        if type_.is_array or type_.is_struct or base in ("bytes", "records"):
            if text:
                self.add_fault(path, f"the default {text!r}: only an empty default or null is allowed for {type_}")
            return
        problem = _default_problem(base, text)
        if problem:
            self.add_fault(path, problem)

    def check_flags(
        self, raw: Mapping[str, Any], type_: FieldType, flexible: Versions, path: str, *, is_root: bool
    ) -> None:
        if raw.get("mapKey") and is_root:
            self.add_fault(path, "a field of the message itself cannot be a map key")
        if raw.get("zeroCopy") and str(type_) != "bytes":
            self.add_fault(path, "zeroCopy is for bytes alone")
        self.check_entity(raw.get("entityType"), type_, path)
        if "flexibleVersions" in raw:
            if str(type_) not in ("string", "bytes"):
                self.add_fault(path, "flexibleVersions of a field is for string and bytes alone")
            elif not self.flexible.covers(flexible):
                self.add_fault(path, f"flexibleVersions {flexible} go beyond the message's {self.flexible}")

    def check_entity(self, entity: Any, type_: FieldType, path: str) -> None:
        if not isinstance(entity, str):
            return  # `check_keys` has already reported any other value.
        if entity not in ENTITY_TYPES:
            self.add_fault(path, f"entityType {entity!r} is none of {', '.join(ENTITY_TYPES)}")
            return
        scalar = ENTITY_TYPES[entity]
        if scalar is not None and type_.base != scalar:
            self.add_fault(path, f"entityType {entity} is for {scalar}, not for {type_.base}")


def _fits(number: int, base: str) -> bool:
    low, high = INTEGER_RANGES[base]
    return low <= number <= high


def _default_problem(base: str, text: str) -> str | None:
    """Return the fault of a scalar's default, or None; an empty default counts as none."""
    if not text:
        return None
    if base == "bool":
        is_bool = text.lower() in ("true", "false")
        return None if is_bool else f"the default {text!r} is neither true nor false"
    if base in INTEGER_RANGES:
        number = parse_integer(text)
        if number is None:
            hint = ": a leading zero makes it octal in Java" if re.fullmatch(r"[+-]?0[0-9]+", text) else ""
            return f"the default {text!r} is no number{hint}"
        return None if _fits(number, base) else f"the default {text} does not fit into {base}"
    if base == "float64" and parse_double(text) is None:
        return f"the default {text!r} is no number"
    if base == "uuid" and not re.fullmatch(r"[A-Za-z0-9_-]{22}(==)?", text):
        return f"the default {text!r} is no uuid"
    return None


def check_extension(raw: Mapping[str, Any], base: Mapping[str, Any] | None, source: str) -> list[Fault]:
    """Return every fault of a file that extends `base`."""
    checker = _Checker({"name": f"extension of {raw.get('extends')}"}, source)
    checker.check_keys(raw, EXTENSION_KEYS, "")
    if base is None:
        checker.add_fault("", f"there is no message {raw.get('extends')!r} to extend")
        return checker.faults
    valid = checker.read_versions(raw, "validVersions", "")
    base_versions = Versions.parse(base["validVersions"])
    if valid is not None and (not valid.covers(base_versions) or valid.low != base_versions.low or valid.is_open):
        checker.add_fault("", f"validVersions {valid} must include {base_versions}, begin with it and have an end")
    merged = merge_extension(base, raw, checker)
    extended = _Checker(merged, source)
    extended.check_message()
    return [*checker.faults, *extended.faults]


def merge_extension(base: Mapping[str, Any], raw: Mapping[str, Any], checker: _Checker) -> Mapping[str, Any]:
    """Return the extended message as a JSON object."""
    fields = list(base.get("fields", ()))
    for addition in checker.read_objects(raw.get("add", []), "add"):
        target = addition.get("into")
        if target == base["name"]:
            fields = [*fields, *addition.get("fields", ())]
        elif target in set(_inline_names(fields)):
            fields = _add_fields(fields, str(target), addition.get("fields", []))
        else:
            checker.add_fault("add", f"{base['name']} has no struct {target!r}")
    return {**base, "validVersions": raw.get("validVersions"), "fields": fields}


def _inline_names(fields: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for field in fields:
        if "fields" in field:
            yield FieldType.parse(field["type"]).base
            yield from _inline_names(field["fields"])


def _add_fields(fields: Sequence[Mapping[str, Any]], target: str, added: Sequence[Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for field in fields:
        if "fields" not in field:
            found.append(field)
            continue
        inner = _add_fields(field["fields"], target, added)
        if FieldType.parse(field["type"]).base == target:
            inner = [*inner, *added]
        found.append({**field, "fields": inner})
    return found


__all__ = ["SCALARS", "Fault", "check_extension", "check_field", "check_keys", "check_message"]
