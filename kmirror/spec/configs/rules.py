"""Rules for the text of config values, beyond their kind: one function each, used by the rows of `configs`.

A rule takes the key's name and the entries of the value (one, if it is not a list) and returns the error, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kmirror.spec.java_patterns import PatternError, compile_java
from kmirror.spec.wire_values import SecurityProtocol

Rule = Callable[[str, Sequence[str]], str | None]

ANY = "*"
ACL_FIELDS = ("resourceType", "resourceName", "operation", "permissionType", "principal")
ACL_PATTERNS = ("resourceName", "principal")
"""Fields of an ACL rule that are regular expressions; the others are words."""
ACL_WORDS = {
    "resourceType": ("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"),
    "operation": (
        "ALL",
        "READ",
        "WRITE",
        "CREATE",
        "DELETE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
        "CREATE_TOKENS",
        "DESCRIBE_TOKENS",
        "TWO_PHASE_COMMIT",
    ),
    "permissionType": ("ALLOW", "DENY"),
}
"""ACLs of a CLUSTER_MIRROR are never copied (D17), so no rule can name them."""
SELECTORS = ("", "org.apache.kafka.common.replica.RackAwareReplicaSelector")
"""Classes that select the replica from which a consumer should fetch (KIP-392); none if empty."""
PROTOCOLS = tuple(protocol.name for protocol in SecurityProtocol)
_SERVER = re.compile(r"\[?([0-9a-zA-Z\-%._:]+)\]?:([0-9]{1,5})")
_REPLICA = re.compile(r"([0-9]+:[0-9]+)?")
_PORT_MAX = 65535


def invalid_value(name: str, value: object, reason: str) -> str:
    """Return the words of Kafka's ConfigException."""
    return f"Invalid value {value} for configuration {name}: {reason}"


def security_protocol(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in a protocol; as in Kafka's clients, it is not case-sensitive."""
    if all(entry.upper() in PROTOCOLS for entry in entries):
        return None
    return invalid_value(name, entries[0], f"String must be one of (case insensitive): {', '.join(PROTOCOLS)}")


def servers(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in a list of one or more host:port entries; one invalid entry makes the list invalid."""
    if not entries:
        return f"No resolvable bootstrap urls given in {name}"
    for entry in entries:
        match = _SERVER.fullmatch(entry)
        if match is None or not 0 < int(match[2]) <= _PORT_MAX:
            return f"Invalid url in {name}: {entry}"
    return None


def address_counts(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in `address:count` pairs between commas; no pair at all is valid."""
    for pair in entries[0].split(",") if entries[0] else ():
        address, _, count = pair.strip().rpartition(":")
        if not address or not count.isdecimal() or not count.isascii():
            return invalid_value(name, entries[0], "Each pair is address:count, such as 127.0.0.1:100")
    return None


def patterns(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in a list of regular expressions."""
    for entry in entries:
        problem = _problem_with_pattern(entry)
        if problem is not None:
            return invalid_value(name, entry, problem)
    return None


def acl_rules(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in a list of ACL rules.

    They are `resourceType;resourceName;operation;permissionType;principal`; `*` is any, and fields at the end may be
    left out.
    """
    for entry in entries:
        problem = _problem_with_acl_rule(entry)
        if problem is not None:
            return invalid_value(name, entry, problem)
    return None


def gzip_level(name: str, entries: Sequence[str]) -> str | None:
    """Return the error in a gzip level: 1 to 9, or -1 for the codec's own default."""
    level = int(entries[0])
    if level == -1 or 1 <= level <= 9:
        return None
    return invalid_value(name, level, "Value must be between 1 and 9 or equal to -1")


def throttled_replicas(name: str, entries: Sequence[str]) -> str | None:
    """Return the error as Kafka's ThrottledReplicaListValidator does."""
    if "".join(entries) == ANY or all(_REPLICA.fullmatch(entry) for entry in entries):
        return None
    form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    list_text = f"[{', '.join(entries)}]"
    return invalid_value(
        name, list_text, f"{name} must be the literal '*' or a list of replicas in the following format: {form}"
    )


def _problem_with_pattern(text: str) -> str | None:
    try:
        compile_java(text)
    except PatternError as error:
        return str(error)
    return None


def _problem_with_acl_rule(rule: str) -> str | None:
    fields = [field.strip() for field in rule.split(";")]
    if len(fields) > len(ACL_FIELDS):
        return f"An ACL rule has at most {len(ACL_FIELDS)} fields ({';'.join(ACL_FIELDS)}), not {len(fields)}"
    for field, value in zip(ACL_FIELDS, fields, strict=False):
        if value == ANY:
            continue
        if not value:
            return f"The field {field} is empty; {ANY} matches any"
        if field in ACL_PATTERNS:
            problem = _problem_with_pattern(value)
            if problem is not None:
                return f"The field {field}: {problem}"
        elif value.upper() not in ACL_WORDS[field]:
            return f"The field {field} must be {ANY} or one of: {', '.join(ACL_WORDS[field])}"
    return None
