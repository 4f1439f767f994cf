"""Static configs of a broker that kmirror accepts without obeying them.

A key that only costs an expectation (threads, buffers, quotas) is worth a warning. A key of security is an error, since
the broker would be less secure than its file says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kmirror.spec.configs import security
from kmirror.spec.configs.key import SET_AT_START, ConfigKey, Kind, Scope
from kmirror.spec.configs.lists import split_entries
from kmirror.spec.configs.registry import config_keys

_SECURITY = {row.name: row for row in security.KEYS if row.no_effect}
_LISTENER_KEY = re.compile(r"listener\.name\.[^.]+\.(?P<key>.+)")
_MECHANISM_KEYS = tuple(f".{name}" for name in _SECURITY if name.startswith("sasl."))


def ineffective_keys(values: Mapping[str, str]) -> dict[str, str]:
    """Return the keys without an effect that differ from their defaults, with the reasons; without keys of security."""
    rows = config_keys(Scope.BROKER)
    return {
        name: row.no_effect
        for name, value in values.items()
        if (row := rows.get(name)) is not None
        and row.no_effect not in ("", SET_AT_START)
        and name not in _SECURITY
        and _differs(row, value)
    }


def ineffective_security(values: Mapping[str, str]) -> list[str]:
    """Return the keys of security without an effect that differ from their defaults.

    They include those of one listener (`listener.name.NAME.KEY`), also with a SASL mechanism in front of the key.
    """
    return [name for name, value in values.items() if (row := _security_row(name)) is not None and _differs(row, value)]


def security_error(names: Sequence[str]) -> str:
    """Return the error for the keys that `ineffective_security` found."""
    has = "has" if len(names) == 1 else "have"
    return (
        f"{', '.join(names)} {has} no effect: {security.UNSERVED}, so clients would connect with less security than "
        "configured. To serve them without it, remove the configuration"
    )


def _security_row(name: str) -> ConfigKey | None:
    match = _LISTENER_KEY.fullmatch(name)
    if match is None:
        return _SECURITY.get(name)
    name = match["key"]
    suffix = next((each for each in _MECHANISM_KEYS if name.endswith(each)), None)
    return _SECURITY.get(name if suffix is None else suffix[1:])


def _differs(row: ConfigKey, value: str) -> bool:
    """Return whether a value differs from the default; invalid values are reported elsewhere."""
    value, default = value.strip(), row.default or ""
    if row.kind in (Kind.SHORT, Kind.INT, Kind.LONG, Kind.DOUBLE):
        try:
            return float(value) != float(default)
        except ValueError:
            return value != default
    if row.kind is Kind.LIST:
        return split_entries(value) != split_entries(default)
    return value.lower() != default.lower() if row.kind is Kind.BOOLEAN else value != default
