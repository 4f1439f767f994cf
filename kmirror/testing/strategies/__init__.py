"""Hypothesis strategies for Kafka messages, batches and logs; `pip install 'kmirror[testing]'` installs Hypothesis.

    from kmirror.testing.strategies import messages, versioned

    @given(messages(FetchRequest, 17))
    def test_one_version(request): ...

    @given(versioned(FetchRequest, release="4.3.1"))
    def test_any_version_of_a_release(pair):
        request, version = pair

    @given(partition_logs(gaps=True))
    def test_a_log_that_a_broker_closed(store): ...

`st.from_type(FetchRequest)` works without importing this module: Hypothesis finds it by its entry point. It generates
messages of the newest version.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.testing.strategies.arbitrary import any_message, classes, messages, structs, uuids, versioned, versions
    from kmirror.testing.strategies.batches import message_sets, record_batches, records
    from kmirror.testing.strategies.logs import log_batches, partition_logs, segments
    from kmirror.testing.strategies.plausible import (
        Setting,
        any_plausible_message,
        plausible_messages,
        settings_of_messages,
    )

# Names are imported on first use: Hypothesis loads this module wherever kmirror is installed.
_MODULES = {
    "any_message": "arbitrary",
    "classes": "arbitrary",
    "messages": "arbitrary",
    "structs": "arbitrary",
    "uuids": "arbitrary",
    "versioned": "arbitrary",
    "versions": "arbitrary",
    "message_sets": "batches",
    "record_batches": "batches",
    "records": "batches",
    "log_batches": "logs",
    "partition_logs": "logs",
    "segments": "logs",
    "any_plausible_message": "plausible",
    "plausible_messages": "plausible",
    "settings_of_messages": "plausible",
    "Setting": "plausible",
}

__all__ = [
    "Setting",
    "any_message",
    "any_plausible_message",
    "classes",
    "log_batches",
    "message_sets",
    "messages",
    "partition_logs",
    "plausible_messages",
    "record_batches",
    "records",
    "segments",
    "settings_of_messages",
    "structs",
    "uuids",
    "versioned",
    "versions",
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def hypothesis_setup_hook() -> None:
    """Register a strategy for every message, loaded or not; Hypothesis calls this when it is imported."""
    from kmirror.testing.strategies.registering import register_types

    register_types()


try:
    # Imported last, and before the other modules of this package: Hypothesis calls the hook before its own import
    # returns, and the hook needs all of them complete.
    import_module("hypothesis")
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    reason = "kmirror.testing.strategies needs Hypothesis: pip install 'kmirror[testing]' installs it"
    raise ModuleNotFoundError(reason, name="hypothesis") from None
