"""Bytes and messages: every message of Kafka's and of KIP-1279, in every version.

    from kmirror.protocol import FetchRequest
    FetchRequest.decode(FetchRequest(max_wait_ms=500).encode(17), 17)

Importing this package loads no message: each comes when it is first asked for.
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

# The messages are left out: a star import would load them all.
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
    # Submodules are asked for here too, before they are imported: only names of classes are looked up.
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("kmirror.protocol.gen"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from kmirror.protocol.gen.registry import MODULES

    return sorted([*__all__, *MODULES])
