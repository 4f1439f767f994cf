"""Read schemas/: every message with what schemas/mirroring/ adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.schema import MessageSpec, build_message, extend_message, load_json

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
# `kafka` to `raft` hold the locked release, `mirroring` what KIP-1279 adds to it.
RELEASE_FOLDERS = ("kafka", "metadata", "coordinator", "storage", "raft")
FOLDERS = (*RELEASE_FOLDERS, "mirroring")


@dataclass(frozen=True, slots=True)
class SchemaFile:
    folder: str
    source: str  # Folder and file name, as in `kafka/FetchRequest.json`.
    raw: Mapping[str, Any]


def read_files(root: Path = SCHEMAS, folders: tuple[str, ...] = FOLDERS) -> list[SchemaFile]:
    """Every schema file under `root`, in a stable order."""
    return [
        SchemaFile(folder, f"{folder}/{path.name}", load_json(path.read_text(encoding="utf-8")))
        for folder in folders
        for path in sorted((root / folder).glob("*.json"))
    ]


@dataclass(frozen=True, slots=True)
class Schemas:
    """All messages by name, and the folder that each is of."""

    messages: dict[str, MessageSpec]
    folders: dict[str, str]

    def live(self) -> list[MessageSpec]:
        """The messages that have a version, by name."""
        return [m for _, m in sorted(self.messages.items()) if m.valid]


def load(root: Path = SCHEMAS) -> Schemas:
    messages: dict[str, MessageSpec] = {}
    folders: dict[str, str] = {}
    extensions: list[SchemaFile] = []
    for file in read_files(root):
        if "extends" in file.raw:
            extensions.append(file)
            continue
        message = build_message(file.raw, file.source)
        messages[message.name] = message
        folders[message.name] = file.folder
    for file in extensions:
        name = file.raw["extends"]
        messages[name] = extend_message(messages[name], file.raw, file.source)
    return Schemas(messages, folders)
