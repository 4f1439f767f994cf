"""Generated tables of the manual.

A page marks the place, and `python -m manual` fills it:

    <!-- table: NAME -->
    ...
    <!-- end of table -->
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import Any

import click

from kmirror.cli.commands import COMMANDS
from kmirror.cli.group import build
from kmirror.experiments.failover_figures import Figures
from kmirror.experiments.failover_options import BOUNDS, CODECS, FAILURES, FAULTS, ExperimentOptions
from kmirror.histories import profiles
from kmirror.histories.actions import ACTIONS
from kmirror.histories.checkers import CHECKERS
from kmirror.histories.fault_actions import STRIKE_ROWS
from kmirror.histories.monitors.table import BY_SUBJECT
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.replication_events import REPLICATION_EVENTS
from kmirror.histories.workloads import KINDS
from kmirror.protocol.registry import by_name, find_key, names
from kmirror.report.dashboard import dashboard
from kmirror.spark.rows import COLUMNS
from kmirror.spark.source import schema_of
from kmirror.spec import apis, configs, metrics
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from manual import kafka_apis
from manual.changelog import unreleased
from manual.files import file_map

ROOT = Path(__file__).resolve().parent.parent
HELP_WIDTH = 80
_MARKED_TABLE = re.compile(r"(<!-- table: (?P<name>[\w -]+) -->\n)(?P<body>.*?)(<!-- end of table -->)", re.DOTALL)
_CHOICES: Mapping[str, Sequence[str]] = {"codec": CODECS, "failure": FAILURES, "fault": FAULTS}


def with_generated_tables(markdown: str) -> str:
    """Return a page with each marked table generated from the current code; raises KeyError for an unknown table."""
    return _MARKED_TABLE.sub(lambda found: f"{found[1]}\n{TABLES[found['name']]()}\n{found[4]}", markdown)


def generated_files() -> Mapping[Path, str]:
    """Return the files of docs/ that are generated as a whole, with their texts."""
    return {ROOT / "docs" / "grafana-dashboard.json": json.dumps(dashboard(), indent=2) + "\n"}


def table_names(markdown: str) -> list[str]:
    """Return the names of the tables that a page marks."""
    return [found["name"] for found in _MARKED_TABLE.finditer(markdown)]


def _metrics() -> str:
    exported = [row for row in metrics.ROWS if not row.omission_reason]
    rows = ((f"`{row.mbean()}`", f"`{row.page_name}`", row.unit, row.about, row.origin) for row in exported)
    return _table(("MBean", "On the page", "Unit", "Meaning", "Named by"), rows)


def _omitted_metrics() -> str:
    rows = ((f"`{row.mbean()}`", row.omission_reason) for row in metrics.ROWS if row.omission_reason)
    return _table(("MBean", "Reason"), rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _code(value: object) -> str:
    return f"`{value}`"


def docs_of_fields(cls: type[Any]) -> dict[str, str]:
    """Return the docstring below each field of a class, "" if it has none."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for statement, next_statement in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            has_doc = isinstance(next_statement, ast.Expr) and isinstance(next_statement.value, ast.Constant)
            text = next_statement.value.value if has_doc else ""  # type: ignore[union-attr]
            found[statement.target.id] = " ".join(str(text).split())
    return found


def _experiment_options() -> str:
    docs = docs_of_fields(ExperimentOptions)
    rows = []
    for field in fields(ExperimentOptions):
        if field.name in _CHOICES:
            accepted = ", ".join(_code(word) for word in _CHOICES[field.name])
        else:
            least, most = BOUNDS[field.name]
            accepted = f"{least:,} to {most:,}"
        rows.append((_code(field.name), _code(field.default), accepted, docs[field.name]))
    return _table(("option", "default", "takes", "meaning"), rows)


def _figures() -> str:
    docs = docs_of_fields(Figures)
    return _table(("column", "meaning"), ((_code(field.name), docs[field.name]) for field in fields(Figures)))


def _sorted_keys(*, is_idle: bool) -> list[configs.ConfigKey]:
    """Return the keys in order of scope, then name."""
    scopes = list(configs.Scope)
    keys = [row for row in configs.KEYS if bool(row.no_effect) is is_idle]
    return sorted(keys, key=lambda row: (scopes.index(row.scope), row.name))


def _idle_config_keys() -> str:
    rows = (
        (
            _code(row.name),
            row.scope.value,
            row.kind.value,
            "" if row.default is None else _code(row.default),
            row.no_effect,
        )
        for row in _sorted_keys(is_idle=True)
    )
    return _table(("key", "of a", "type", "default", "reason without effect"), rows)


def _config_keys() -> str:
    rows = []
    for row in _sorted_keys(is_idle=False):
        bounds = f"{'' if row.minimum is None else row.minimum}..{'' if row.maximum is None else row.maximum}"
        accepted = ", ".join(row.choices) or (bounds if bounds != ".." else "")
        default = "" if row.default is None else _code(row.default)
        dynamic = "" if row.scope is not configs.Scope.BROKER else "yes" if row.dynamic else "no"
        rows.append((_code(row.name), row.scope.value, row.kind.value, default, accepted, dynamic, row.doc))
    return _table(("key", "of a", "type", "default", "takes", "dynamic", "meaning"), rows)


def _error_codes() -> str:
    rows = ((str(int(code)), _code(code.name), "yes" if code.retriable else "no", code.text) for code in ErrorCode)
    return _table(("code", "name", "retriable", "text"), rows)


def _origin(schema: Mapping[str, Any] | None, version_last: int) -> str:
    if schema is None:
        return "Apache Kafka"
    return f"Apache Kafka; version {version_last} is KIP-1279's" if "extends" in schema else "KIP-1279"


def _messages() -> str:
    proposed = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "schemas/mirroring").glob("*.json")}
    rows = []
    for name in names():
        cls = by_name(name)
        versions = f"{cls.MIN_VERSION}-{cls.MAX_VERSION}" if cls.MAX_VERSION > cls.MIN_VERSION else f"{cls.MAX_VERSION}"
        flexible = "" if cls.FLEXIBLE_FROM is None else f"{cls.FLEXIBLE_FROM}+"
        key = "" if cls.API_KEY is None else str(cls.API_KEY)
        rows.append((_code(name), cls.TYPE, key, versions, flexible, _origin(proposed.get(name), cls.MAX_VERSION)))
    return _table(("message", "kind", "API key or record type", "versions", "flexible", "from"), rows)


def _apis_served() -> str:
    rows = []
    for row in apis.ROWS:
        api = find_key(row.key)
        assert api is not None
        mirror_versions = (
            ""
            if row.first_mirror_version is None
            else "all"
            if row.first_mirror_version == row.first
            else f"{row.first_mirror_version}"
        )
        versions = _versions(row.first, row.last)
        rows.append(
            (_code(row.name), str(row.key), versions, mirror_versions, " and ".join(row.roles), row.unsupported)
        )
    return _table(("API", "key", "versions", "of KIP-1279", "served by", "left out"), rows)


def _versions(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else f"{last}"


def _kafka_apis() -> str:
    served = {row.name: row for row in apis.ROWS if "broker" in row.roles}
    rows = []
    for api in kafka_apis.ROWS:
        if (served_api := served.get(api.name)) is None:
            continue
        last = min(served_api.last, api.last) if served_api.first_mirror_version is not None else served_api.last
        served_versions = _versions(served_api.first, last)
        rows.append(
            (
                _code(api.name),
                str(API_KEYS[api.name]),
                _versions(api.first, api.last),
                served_versions,
                served_api.unsupported,
            )
        )
    return _table(("API", "key", "Kafka 4.3.1", "kmirror", "left out"), rows)


def _kafka_apis_left_out() -> str:
    by_subject: dict[str, list[tuple[str, str, str]]] = {}
    served = {row.name for row in apis.ROWS if "broker" in row.roles}
    for api in kafka_apis.ROWS:
        if api.name not in served:
            row = (_code(api.name), str(API_KEYS[api.name]), _versions(api.first, api.last))
            by_subject.setdefault(api.omission_reason or "Not yet", []).append(row)
    parts = (f"{reason}.\n\n{_table(('API', 'key', 'Kafka 4.3.1'), rows)}" for reason, rows in by_subject.items())
    return "\n".join(parts)


def _log_columns(level: str) -> str:
    columns = COLUMNS[level].items()
    rows = ((_code(name), _code(schema_of(level, [name])[name].dataType.simpleString()), c.doc) for name, c in columns)
    return _table(("column", "type", "meaning"), rows)


def _checkers() -> str:
    rows = ((_code(name), " ".join(checker.doc.split())) for name, checker in CHECKERS.items())
    return _table(("anomaly", "observation"), rows)


def _rules() -> str:
    parts = []
    for subject, rules in BY_SUBJECT.items():
        table = _table(("rule", "violation"), ((_code(name), text) for name, text in rules.items()))
        parts.append(f"## {subject}\n\n{table}")
    return "\n".join(parts)


def _profiles() -> str:
    return _table(("profile", "purpose"), ((_code(row.name), row.doc) for row in profiles.ROWS))


def _plan_actions() -> str:
    rows = ((_code(row.name), row.doc, _code_list(row.required), _code_list(row.optional)) for row in ACTIONS.values())
    return _table(("action", "effect", "needs", "takes"), rows)


def _plan_strikes() -> str:
    return _table(("`do`", "effect", "needs"), ((_code(r.name), r.doc, _code_list(r.required)) for r in STRIKE_ROWS))


def _plan_sights() -> str:
    return _table(("`on`", "event"), ((_code(row.name), row.doc) for row in REPLICATION_EVENTS.values()))


def _plan_clients() -> str:
    return _table(("kind", "behaviour"), ((_code(row.name), row.doc) for row in KINDS.values()))


def _plan_fields() -> str:
    rows = []
    for subject, cls in (("the plan", Plan), ("a cluster", ClusterPlan), ("a client", ClientPlan), ("a step", Step)):
        docs = docs_of_fields(cls)
        rows += [(subject, _code(each.name), docs[each.name]) for each in fields(cls)]
    return _table(("of", "field", "meaning"), rows)


def _code_list(names: str) -> str:
    return ", ".join(_code(name) for name in names.split())


def _commands() -> str:
    top = build(COMMANDS)
    parts = []
    for row in COMMANDS:
        command = top.get_command(click.Context(top), row.name)
        assert command is not None
        settings = {**command.context_settings, "terminal_width": HELP_WIDTH}
        context = click.Context(command, info_name=f"kmirror {row.name}", **settings)
        parts.append(f"## {row.name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


TABLES: Mapping[str, Callable[[], str]] = {
    "experiment options": _experiment_options,
    "figures": _figures,
    "metrics": _metrics,
    "metrics left out": _omitted_metrics,
    "config keys": _config_keys,
    "idle config keys": _idle_config_keys,
    "error codes": _error_codes,
    "messages": _messages,
    "apis served": _apis_served,
    "kafka apis": _kafka_apis,
    "kafka apis left out": _kafka_apis_left_out,
    "files": file_map,
    "unreleased changes": unreleased,
    "record columns": partial(_log_columns, "record"),
    "batch columns": partial(_log_columns, "batch"),
    "commands": _commands,
    "checkers": _checkers,
    "profiles": _profiles,
    "rules": _rules,
    "plan actions": _plan_actions,
    "plan clients": _plan_clients,
    "plan fields": _plan_fields,
    "plan sights": _plan_sights,
    "plan strikes": _plan_strikes,
}


def rows_of(markdown: str, heading: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the first table below `heading`, as text; tests compare them with the code."""
    _, found, rest = markdown.partition(f"\n{heading}\n")
    assert found, f"no heading {heading!r}"
    lines = dropwhile(lambda line: not line.startswith("|"), rest.split("\n"))
    for line in islice(takewhile(lambda line: line.startswith("|"), lines), 2, None):
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
