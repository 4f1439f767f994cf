"""Generator of the tables of messages by name and by API key."""

from __future__ import annotations

from codegen.emit import Emitter
from codegen.load import Schemas
from codegen.schema import MessageSpec

HEAD = "Generated from schemas/. Change schemas/ or codegen/, then run python -m codegen."

# Coordinator records by their internal topic: folder of the schemas, and prefix of their names.
TOPICS = {
    "__consumer_offsets": "GROUP",
    "__transaction_state": "TRANSACTION",
    "__share_group_state": "SHARE",
    "__mirror_state": "MIRROR",
}


def topic_of(message: MessageSpec, folder: str) -> str:
    """Return the internal topic of a coordinator record."""
    if folder == "mirroring":
        return "__mirror_state"
    if message.name.startswith("TransactionLog"):
        return "__transaction_state"
    if message.name.startswith(("ShareSnapshot", "ShareUpdate")):
        return "__share_group_state"
    return "__consumer_offsets"


def generate_registry(schemas: Schemas, release: str) -> str:
    """Return the text of `registry.py`: every API and every message by name; `release` is Kafka's."""
    out = Emitter()
    out.lines('"""Which messages there are, by name, API key and record type.', "", HEAD, '"""', "")
    out.lines("from __future__ import annotations", "")
    out.lines("# Message name to module.")
    with out.block("MODULES: dict[str, str] = {"):
        for message in schemas.live():
            out.line(f'"{message.name}": "{message.module}",')
    out.lines("}", "")
    out.comment("The Apache Kafka release of the schemas. APIs and versions that it does not have belong to KIP-1279.")
    out.lines(f'KAFKA_RELEASE = "{release}"', "")
    out.comment(
        "API key to name, first and last version, first flexible one, listeners, is the last unstable, last version of "
        "the release."
    )
    with out.block("APIS: dict[int, tuple[str, int, int, int | None, tuple[str, ...], bool, int | None]] = {"):
        for request in _requests(schemas):
            if not request.valid:
                continue
            flexible = request.flexible.low if request.flexible.intersect(request.valid) else None
            listeners = "(" + "".join(f'"{name}", ' for name in request.listeners).rstrip() + ")"
            listeners = listeners if len(request.listeners) < 2 else listeners.replace(",)", ")")
            name = request.name.removesuffix("Request")
            released = schemas.released.get(request.name)
            out.line(
                f'{request.api_key}: ("{name}", {request.valid.low}, {request.valid.high}, {flexible}, '
                f"{listeners}, {request.latest_version_unstable}, {released.high if released else None}),"
            )
    out.lines("}", "")
    out.comment("Messages that KIP-1279 adds or extends: the last version of the release, None where it has none.")
    with out.block("ADDITIONS: dict[str, int | None] = {"):
        for message in schemas.live():
            released = schemas.released.get(message.name)
            if released is None or released.high != message.valid.high:
                out.line(f'"{message.name}": {released.high if released else None},')
    out.lines("}", "")
    out.comment("Keys that stay taken although no version is left.")
    with out.block("RETIRED: dict[int, str] = {"):
        for request in _requests(schemas):
            if not request.valid:
                out.line(f'{request.api_key}: "{request.name.removesuffix("Request")}",')
    out.lines("}", "")
    out.comment("KRaft metadata records: record type to name.")
    _write_names(out, "METADATA_RECORDS", _records(schemas, "metadata"))
    out.comment("Records of tiered storage's metadata topic: record type to name.")
    _write_names(out, "REMOTE_LOG_RECORDS", _records(schemas, "storage"))
    out.comment("Internal topic to its records: record type to the names of key and value.")
    with out.block("COORDINATOR_RECORDS: dict[str, dict[int, tuple[str, str]]] = {"):
        for topic in TOPICS:
            keys = {
                m.api_key: m.name
                for m in schemas.live()
                if m.type == "coordinator-key" and topic_of(m, schemas.folders[m.name]) == topic
            }
            values = {
                m.api_key: m.name
                for m in schemas.live()
                if m.type == "coordinator-value" and topic_of(m, schemas.folders[m.name]) == topic
            }
            with out.block(f'"{topic}": {{'):
                for number, name in sorted((n, m) for n, m in keys.items() if n is not None):
                    out.line(f'{number}: ("{name}", "{values[number]}"),')
            out.line("},")
    out.line("}")
    return out.text


def generate_api_keys(schemas: Schemas) -> str:
    """Return the API keys alone, for tables that must not import the message classes."""
    out = Emitter()
    out.lines('"""The key of every API that has a version, by name.', "", HEAD, '"""', "")
    out.lines("from __future__ import annotations", "")
    with out.block("API_KEYS: dict[str, int] = {"):
        for request in _requests(schemas):
            if request.valid:
                out.line(f'"{request.name.removesuffix("Request")}": {request.api_key},')
    out.line("}")
    return out.text


def _requests(schemas: Schemas) -> list[MessageSpec]:
    found = [m for m in schemas.messages.values() if m.type == "request"]
    return sorted(found, key=lambda m: m.api_key or 0)


def _records(schemas: Schemas, folder: str) -> dict[int, str]:
    found = {
        m.api_key: m.name
        for m in schemas.live()
        if m.type == "metadata" and schemas.folders[m.name] == folder and m.api_key is not None
    }
    return dict(sorted(found.items()))


def _write_names(out: Emitter, table: str, names: dict[int, str]) -> None:
    with out.block(f"{table}: dict[int, str] = {{"):
        for number, name in names.items():
            out.line(f'{number}: "{name}",')
    out.lines("}", "")


def generate_package(schemas: Schemas) -> str:
    """Return the package's `__init__`: type checkers see every class, and a class is loaded on first access."""
    out = Emitter()
    out.lines('"""Every message class, loaded when it is first asked for.', "", HEAD, '"""', "")
    out.lines("from __future__ import annotations", "")
    out.lines("import importlib", "from typing import TYPE_CHECKING, Any", "")
    out.lines("from kmirror.protocol.gen.registry import MODULES", "")
    with out.block("if TYPE_CHECKING:"):
        for message in sorted(schemas.live(), key=lambda m: m.module):
            out.line(f"from kmirror.protocol.gen.{message.module} import {message.name} as {message.name}")
    out.lines("", "")
    with out.block("def __getattr__(name: str) -> Any:"):
        out.line("module = MODULES.get(name)")
        with out.block("if module is None:"):
            out.line('raise AttributeError(f"no message is named {name}")')
        out.line('found = getattr(importlib.import_module(f"{__name__}.{module}"), name)')
        out.line("globals()[name] = found")
        out.line("return found")
    return out.text
