"""`Row`: a relevant event, and the way to observe it. The tables of this package consist of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Origin(Enum):
    """Place where an event is observed; `Watch` observes all of them while a history runs."""

    TRACE = "a line of the trace: a note of a node, a timer, a link that closed"
    REQUEST = "a request that arrives at a node"
    ANSWER = "a response that a node sends, or that its client receives"
    METADATA = "the metadata log, read and replayed when the history is over"
    FACT = "a fact that a node reports"
    LOG = "the logs of all leaders when the history is over"
    STATE = "the state of a coordinator, checked after the events that may change it"
    PLAN = "the plan, and which of its steps were executed"


@dataclass(frozen=True, slots=True)
class Row:
    """An event that is counted; its group is the name up to the first dot."""

    name: str
    doc: str
    origin: Origin
    test: Callable[[Any], int] | None = None
    """Returns the number of events in the observed object; None for rows that a watcher counts by name."""
    api: str = ""
    """For REQUEST and ANSWER rows: the API whose messages are passed to `test`."""
    pattern: str = ""
    """For TRACE rows: a regular expression, searched in `ROLE: LINE`; roles are broker, controller, client."""
    unreachable: str = ""
    """Why no history can reach the row; empty if one can."""

    @property
    def group(self) -> str:
        """Return the first part of the name."""
        return self.name.split(".", 1)[0]
