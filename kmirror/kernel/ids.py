"""Identities that every layer shares."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Endpoint(NamedTuple):
    """Where a listener can be reached."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
