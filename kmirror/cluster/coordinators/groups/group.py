"""A classic group: its state, its members, and who waits for an answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Group:
    """One group, as its coordinator sees it now."""

    group_id: str
