"""Values that must never be shown: configs that are passwords, and proofs of identity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kmirror.spec.configs import Kind, Scope, config_keys

HIDDEN: Final = "[hidden]"
"""Shown in place of a secret; Kafka's word."""
SECRET_FIELDS: Final = frozenset(
    {"auth_bytes", "hmac", "request_data", "salt", "salted_password", "server_key", "stored_key"}
)
"""Fields of messages, by attribute: proofs of identity, their ingredients, and requests within an Envelope."""


def is_secret(name: str, scopes: Iterable[Scope] = Scope) -> bool:
    """Return whether a config is a password, or unknown in these scopes, so that it may be one."""
    rows = [row for scope in scopes if (row := config_keys(scope).get(name)) is not None]
    return not rows or any(row.kind is Kind.PASSWORD for row in rows)
