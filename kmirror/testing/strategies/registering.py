"""Registration of message strategies for `st.from_type`; each class is registered when it is loaded."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Struct, class_hooks
from kmirror.testing.strategies.arbitrary import messages, structs, uuids


def register_types() -> None:
    """Register strategies for all messages and their parts: loaded classes now, others when they are loaded."""
    st.register_type_strategy(Uuid, uuids)
    _register_all(Struct)
    class_hooks.append(_register)


def _register_all(base: type[Struct]) -> None:
    for cls in base.__subclasses__():
        if cls.__module__.startswith("kmirror.protocol.gen."):
            _register(cls)
        _register_all(cls)


def _register(cls: type[Struct]) -> None:
    st.register_type_strategy(cls, _resolve)


def _resolve(cls: type[Any]) -> st.SearchStrategy[Any]:
    return messages(cls) if issubclass(cls, Message) else structs(cls)
