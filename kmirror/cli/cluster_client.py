"""Cluster client of a command, configured by the command line and by the file of --command-config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kmirror.admin.client import AsyncAdmin
from kmirror.cli.kafka_options import OptionRow, ParsedOptions
from kmirror.cli.output import write_stderr
from kmirror.cli.server_properties import parse
from kmirror.client.admin import AdminConfigs
from kmirror.client.remote_cluster import code_of
from kmirror.client.security import SecuritySettings, security_of
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import Endpoint

TIMES = ("request.timeout.ms", "default.api.timeout.ms", "retry.backoff.ms", "retry.backoff.max.ms")


@dataclass(frozen=True, slots=True)
class Client:
    """Settings of a tool's client."""

    configs: AdminConfigs
    security: SecuritySettings | None = None


TIMEOUT_OPTION = OptionRow(
    ("timeout",), "Time limit for an answer of the cluster; overrides default.api.timeout.ms.", "MS"
)


def read_timeout(parsed: ParsedOptions) -> int | None:
    """Return the milliseconds of --timeout, or None; raise UsageError for an invalid number."""
    if not parsed.has("timeout"):
        return None
    timeout_ms = parsed.number("timeout", 0)
    if not 0 < timeout_ms < 2**31:
        raise UsageError(f"--timeout must be a positive number of milliseconds, not {timeout_ms}")
    return timeout_ms


def client_of(properties: Mapping[str, str], timeout_ms: int | None = None) -> Client:
    """Return the client settings in `properties`; raise UsageError for an invalid time, or wrong security settings.

    `timeout_ms` overrides `default.api.timeout.ms`, and is the upper bound of `request.timeout.ms`.
    """
    times: dict[str, int] = {}
    for key in TIMES:
        if key in properties:
            text = properties[key].strip()
            if not (text.isascii() and text.isdigit()) or int(text) >= 2**31:
                raise UsageError(f"{key} must be a number of milliseconds, not {text!r}")
            times[key.replace(".", "_")] = int(text)
    configs = AdminConfigs(**times)
    if timeout_ms is not None:
        request_timeout_ms = min(configs.request_timeout_ms, timeout_ms)
        configs = replace(configs, default_api_timeout_ms=timeout_ms, request_timeout_ms=request_timeout_ms)
    return Client(configs, security_of(properties))


def properties_in(path: str, option: str) -> dict[str, str]:
    """Return the pairs of the properties file given by an option; raise UsageError if it cannot be read."""
    try:
        return parse(Path(path).read_text("latin-1"))
    except OSError as error:
        raise UsageError(f"--{option}: cannot read {path}: {error.strerror}") from None


def option_properties(parsed: ParsedOptions, option: str) -> dict[str, str]:
    """Return the pairs of the properties file given by an option, or {} without the option.

    Raise UsageError if the file cannot be read.
    """
    return properties_in(parsed.text(option, ""), option) if parsed.has(option) else {}


def open_admin(servers: str, client: Client) -> AsyncAdmin:
    """Return an admin client that reports each broker that does not respond, once."""
    reported: dict[Endpoint, None] = {}

    def on_silent(endpoint: Endpoint) -> None:
        if endpoint not in reported:
            reported[endpoint] = None
            write_stderr(
                f"{endpoint} does not respond; retrying for {client.configs.default_api_timeout_ms / 1000:g} s\n"
            )

    return AsyncAdmin(servers, client.configs, security=client.security, on_silent=on_silent)


def raise_for_code(code: int, message: str | None) -> None:
    """Raise KafkaError for a response's error code, with the response's message or the code's standard text."""
    if code:
        error = code_of(code)
        raise KafkaError(error, f"{error.name}: {message or error.text}")
