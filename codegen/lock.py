"""The Kafka release of the schemas, and the check that every file is unchanged since it was copied.

LOCK.json contains the release, the jar of each message, and the sha256 of each file. `python -m codegen` rewrites the
hashes; the release and the jars are edited by hand when another release is adopted.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from codegen.load import FOLDERS, RELEASE_FOLDERS, SCHEMAS

# Coordinator records come from three jars; every other folder is one jar.
ARTIFACTS = {
    "kafka": "kafka-clients",
    "metadata": "kafka-metadata",
    "storage": "kafka-storage",
    "raft": "kafka-raft",
}


def artifact_of(folder: str, name: str) -> str:
    """Return the jar in which Kafka ships the message."""
    if folder != "coordinator":
        return ARTIFACTS[folder]
    if name.startswith("TransactionLog"):
        return "kafka-transaction-coordinator"
    if name.startswith(("ShareSnapshot", "ShareUpdate")):
        return "kafka-share-coordinator"
    return "kafka-group-coordinator"


def read_lock(root: Path = SCHEMAS) -> dict[str, Any]:
    """Return the content of LOCK.json: Kafka's version and a hash for each schema."""
    found: dict[str, Any] = json.loads((root / "LOCK.json").read_text(encoding="utf-8"))
    return found


def generate_lock(root: Path = SCHEMAS) -> str:
    """Return the expected text of LOCK.json."""
    lock = read_lock(root)
    files = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.json")):
            files[f"{folder}/{path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
    for name in ("errors.json", "mirroring.json"):
        files[name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
    return json.dumps({"kafka": lock["kafka"], "kip": lock["kip"], "sha256": files}, indent=2) + "\n"


__all__ = ["RELEASE_FOLDERS", "artifact_of", "generate_lock", "read_lock"]
