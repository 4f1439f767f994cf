"""Contents of the reference pages: an extension of griffe that keeps public names and writes tables of parameters.

mkdocstrings loads it (`zensical.toml`). From the code it makes

- of the fields of a dataclass, and of the parameters of a function that has several: a table with type and default,
  and as description the docstring of the field, or the sentences of the docstring that name the parameter,
- of the other documented attributes of a class: a table,
- of the type aliases of a module, and of the constants that a package exports: a table.

Type variables, constants that no package exports, and attributes without a docstring are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import griffe

PARAMETERS_MIN = 4
"""Smallest number of parameters for which a function gets a table; the signature is enough for fewer."""

_TYPE_VARIABLES = re.compile(r"(TypeVar|ParamSpec|TypeVarTuple|NewType)\(")
_ALIAS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
_SENTENCE_END = re.compile(r"(?<=[.;])\s+")


class PublicNames(griffe.Extension):
    """Extension that mkdocstrings applies after a package is loaded."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_kwargs: Any) -> None:
        exported = {name for module in _modules(pkg) for name in _exports(module)}
        for module in _modules(pkg):
            _tabulate_module(module, exported)


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for member in module.modules.values():
        if not member.is_alias:
            yield from _modules(member)


def _exports(module: griffe.Module) -> set[str]:
    """Return the names in `__all__` of a package; a module below a package exports nothing by itself."""
    return {str(name) for name in module.exports or ()} if module.is_init_module else set()


def _tabulate_module(module: griffe.Module, exported: set[str]) -> None:
    rows = []
    for name, attribute in _own_attributes(module):
        value = str(attribute.value or "")
        is_alias = _ALIAS_NAME.fullmatch(name) is not None and not _TYPE_VARIABLES.search(value)
        if not name.startswith("_") and (is_alias or name in exported):
            rows.append(griffe.DocstringAttribute(name, annotation=attribute.value, description=_text(attribute)))
        module.del_member(name)
    _add(module, griffe.DocstringSectionAttributes(rows, title="Types and constants:"), rows)
    for member in list(module.members.values()):
        if isinstance(member, griffe.Class):
            _tabulate_class(member)
        elif isinstance(member, griffe.Function):
            _tabulate_function(member)


def _tabulate_class(cls: griffe.Class) -> None:
    is_enum = any("Enum" in str(base) or "IntFlag" in str(base) for base in cls.bases)
    is_dataclass = "dataclass" in cls.labels
    init = cls.members.get("__init__")
    parameters = list(init.parameters) if isinstance(init, griffe.Function) else []
    names = {parameter.name for parameter in parameters}
    fields, attributes = {}, []
    for name, attribute in _own_attributes(cls):
        if "property" in attribute.labels or is_enum:
            continue
        if name in names and is_dataclass:
            fields[name] = _text(attribute)
        elif not name.startswith("_") and (
            attribute.docstring is not None or "instance-attribute" not in attribute.labels
        ):
            row = griffe.DocstringAttribute(name, annotation=attribute.annotation, description=_text(attribute))
            attributes.append(row)
        cls.del_member(name)
    if isinstance(init, griffe.Function):
        text = " ".join(each.docstring.value for each in (cls, init) if each.docstring is not None)
        rows = _parameters(parameters, text, fields)
        if len(rows) >= PARAMETERS_MIN or is_dataclass:
            _add_parameters(cls, rows)
    _add(cls, griffe.DocstringSectionAttributes(attributes), attributes)
    for member in list(cls.members.values()):
        if isinstance(member, griffe.Class):
            _tabulate_class(member)
        elif isinstance(member, griffe.Function) and member.name != "__init__":
            _tabulate_function(member)


def _tabulate_function(function: griffe.Function) -> None:
    text = "" if function.docstring is None else function.docstring.value
    rows = _parameters(function.parameters, text, {})
    if len(rows) >= PARAMETERS_MIN:
        _add_parameters(function, rows)


def _parameters(
    parameters: Iterable[griffe.Parameter], text: str, described: dict[str, str]
) -> list[griffe.DocstringParameter]:
    return [
        griffe.DocstringParameter(
            parameter.name,
            annotation=parameter.annotation,
            value=parameter.default,
            description=described.get(parameter.name) or _sentences(text, parameter.name),
        )
        for parameter in parameters
        if parameter.name not in ("self", "cls") and not parameter.name.startswith("_")
    ]


def _sentences(text: str, name: str) -> str:
    """Return the sentences of a docstring that name a parameter in backticks."""
    return " ".join(each for each in _SENTENCE_END.split(" ".join(text.split())) if f"`{name}`" in each)


def _own_attributes(parent: griffe.Module | griffe.Class) -> list[tuple[str, griffe.Attribute]]:
    members = parent.members.items()
    return [(name, member) for name, member in members if isinstance(member, griffe.Attribute) and not member.is_alias]


def _text(attribute: griffe.Attribute) -> str:
    return "" if attribute.docstring is None else " ".join(attribute.docstring.value.split())


def _add_parameters(parent: griffe.Object, rows: list[griffe.DocstringParameter]) -> None:
    """Add a table of parameters, unless it would say no more than the signature."""
    if any(row.description for row in rows):
        _add(parent, griffe.DocstringSectionParameters(rows), rows)


def _add(parent: griffe.Object, section: griffe.DocstringSection, rows: list[Any]) -> None:
    """Add a table below the docstring, which has no sections of its own."""
    if not rows:
        return
    if parent.docstring is None:
        parent.docstring = griffe.Docstring("", parent=parent)
    docstring = parent.docstring
    text = [griffe.DocstringSectionText(docstring.value)] if docstring.value else []
    before = docstring.__dict__.get("parsed", text)
    docstring.__dict__["parsed"] = [*before, section]
