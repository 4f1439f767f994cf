"""Kafka protocol: every message of Kafka and of KIP-1279, in every version.

    from kmirror.protocol import FetchRequest
    FetchRequest.decode(FetchRequest(max_wait_ms=500).encode(17), 17)

Importing this package loads no message; each message is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import negotiate
from kmirror.protocol.structs import Field, Policy, Struct
from kmirror.protocol.wire import UnknownTag

if TYPE_CHECKING:
    from kmirror.protocol.gen import *  # noqa: F403

# Without the messages: a star import would load them all.
__all__ = [
    "Field",
    "LocalProtocolError",
    "Message",
    "Policy",
    "ProtocolError",
    "Struct",
    "UnknownTag",
    "Uuid",
    "negotiate",
]


def __getattr__(name: str) -> Any:
    # Also called for submodules before they are imported: only names of classes are looked up.
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("kmirror.protocol.gen"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from kmirror.protocol.gen.registry import MODULES

    return sorted([*__all__, *MODULES])
