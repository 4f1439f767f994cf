"""Reader of schemas/: every message, with the additions of schemas/mirroring/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.rules import Fault, check_extension, check_keys, check_message
from codegen.schema import MessageSpec, build_message, extend_message, load_json
from codegen.versions import Versions

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
# `kafka` to `raft` hold the schemas of the locked release, `mirroring` the additions of KIP-1279.
RELEASE_FOLDERS = ("kafka", "metadata", "coordinator", "storage", "raft")
FOLDERS = (*RELEASE_FOLDERS, "mirroring")


class SchemaError(Exception):
    """The schemas have faults; nothing is generated."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = list(faults)
        super().__init__("\n".join(str(fault) for fault in faults))


@dataclass(frozen=True, slots=True)
class SchemaFile:
    folder: str
    source: str  # Folder and file name, such as `kafka/FetchRequest.json`.
    raw: Any


@dataclass(frozen=True, slots=True)
class Schemas:
    """All messages by name, the folder of each, and its versions in the locked release."""

    messages: dict[str, MessageSpec]
    folders: dict[str, str]
    released: dict[str, Versions]

    def live(self) -> list[MessageSpec]:
        """Return the messages with at least one version, by name."""
        return [m for _, m in sorted(self.messages.items()) if m.valid]


def mirroring_keys(root: Path) -> dict[str, int]:
    """Return the API keys of KIP-1279, from one table: the KIP leaves them open, and releases take some."""
    path = root / "mirroring.json"
    if not path.exists():
        return {}
    keys: dict[str, int] = load_json(path.read_text(encoding="utf-8"))["apiKeys"]
    return keys


def _add_api_key(raw: Any, keys: Mapping[str, int]) -> Any:
    if not isinstance(raw, Mapping) or "apiKey" in raw or raw.get("type") not in ("request", "response"):
        return raw
    api = str(raw.get("name")).removesuffix("Request").removesuffix("Response")
    return {"apiKey": keys[api], **raw} if api in keys else raw


def read_files(root: Path = SCHEMAS, folders: tuple[str, ...] = FOLDERS) -> list[SchemaFile]:
    """Return every schema file under `root`, in a stable order; raises `SchemaError` for invalid JSON."""
    found = []
    faults = []
    keys = mirroring_keys(root)
    for folder in folders:
        for path in sorted((root / folder).glob("*.json")):
            source = f"{folder}/{path.name}"
            try:
                raw = load_json(path.read_text(encoding="utf-8"))
            except ValueError as error:
                faults.append(Fault(source, "", "", f"this is not JSON: {error}"))
                continue
            found.append(SchemaFile(folder, source, _add_api_key(raw, keys) if folder == "mirroring" else raw))
    if faults:
        raise SchemaError(faults)
    return found


def check_files(files: Sequence[SchemaFile]) -> list[Fault]:
    """Return every fault of a whole set of schemas."""
    faults: list[Fault] = []
    by_name: dict[str, Mapping[str, Any]] = {}
    plain = [f for f in files if not (isinstance(f.raw, Mapping) and "extends" in f.raw)]
    for file in plain:
        found = check_message(file.raw, file.source)
        faults += found
        if found:
            continue
        name = file.raw["name"]
        if name in by_name:
            faults.append(Fault(file.source, name, "", "another file declares this message too"))
        if not file.source.endswith(f"/{name}.json"):
            faults.append(Fault(file.source, name, "", "file and message must have one name"))
        by_name[name] = file.raw
    faults += check_keys([(f.raw, f.source) for f in plain if isinstance(f.raw, Mapping)])
    for file in files:
        if isinstance(file.raw, Mapping) and "extends" in file.raw:
            faults += check_extension(file.raw, by_name.get(file.raw["extends"]), file.source)
    return faults


def load(root: Path = SCHEMAS) -> Schemas:
    """Return all messages; raises `SchemaError` with every fault if there is one."""
    files = read_files(root)
    faults = check_files(files)
    if faults:
        raise SchemaError(faults)
    messages: dict[str, MessageSpec] = {}
    folders: dict[str, str] = {}
    for file in files:
        if "extends" not in file.raw:
            message = build_message(file.raw, file.source)
            messages[message.name] = message
            folders[message.name] = file.folder
    released = {name: message.valid for name, message in messages.items() if folders[name] in RELEASE_FOLDERS}
    for file in files:
        if "extends" in file.raw:
            name = file.raw["extends"]
            messages[name] = extend_message(messages[name], file.raw, file.source)
    return Schemas(messages, folders, released)
