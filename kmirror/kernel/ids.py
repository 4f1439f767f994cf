"""Identifiers shared by all layers."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """Topic name and partition number; as text `orders-0`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Endpoint(NamedTuple):
    """Address of a listener."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Principal(NamedTuple):
    """Identity of the client of a link (KafkaPrincipal)."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal("User", "ANONYMOUS")
"""Principal of all clients of a listener without authentication."""
