"""Sweep files, and the runs that they define.

    name = "wan"                      # optional: the file's name
    seeds = 5                         # seeds 0 to 4 for each point; or a list; default 1
    draws = 100                       # number of random points, if there is a [random] table

    [fixed]                           # the same in every run
    brokers = 3

    [grid]                            # every combination of these
    latency_ms = [5, 25, 100]

    [random]                          # drawn for each point, from the point's number alone
    loss_ppm = { min = 10, max = 20000, scale = "log" }
    codec = ["none", "lz4"]           # one of

Names are fields of `kmirror.experiments.failover_options.ExperimentOptions`. With both tables each point of the grid
gets `draws` random points. A run is identified by its options and the version of kmirror, so a file may grow: finished
runs are not repeated.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from kmirror import __version__
from kmirror.errors import UsageError
from kmirror.experiments.failover_options import OPTION_NAMES, ExperimentOptions
from kmirror.experiments.toml_file import read_toml
from kmirror.kernel.arguments import shown
from kmirror.kernel.rng import Rng

KEYS = ("name", "seeds", "draws", "fixed", "grid", "random")
RUNS_MAX = 1_000_000
DRAW_SEED = 1279


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a sweep; `run_id` identifies options and version."""

    run_id: str
    options: ExperimentOptions


@dataclass(frozen=True, slots=True)
class Sweep:
    """A parsed sweep file; `axes` are the options that differ between its runs, without the seed."""

    name: str
    axes: tuple[str, ...]
    runs: tuple[Run, ...]


def read_sweep(path: Path) -> Sweep:
    """Return the runs of the file at `path`; raises `UsageError` with the error and its place."""
    return read_toml(path, lambda table: parse_sweep(table, path.stem))


def parse_sweep(table: Mapping[str, Any], name: str = "sweep") -> Sweep:
    """Return the runs of a sweep file's content; raises `UsageError` for invalid content."""
    if not isinstance(table, Mapping):
        raise UsageError(f"a sweep must be a table of keys, such as [grid], not {shown(table)}")
    for key in table:
        if key not in KEYS:
            raise UsageError(f"unknown key {key!r}{_hint(key, KEYS)}")
    fixed, grid, random_options = (_options(table, part) for part in ("fixed", "grid", "random"))
    for one, other in ((fixed, grid), (fixed, random_options), (grid, random_options)):
        if both := sorted(one.keys() & other.keys()):
            raise UsageError(f"{both[0]} is given twice")
    for option, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"[grid] {option} must be a list of values, not {values!r}")
    seeds = _seeds(table.get("seeds", 1), fixed, grid, random_options)
    random_points = table.get("draws", 1)
    if type(random_points) is not int or random_points < 1:
        raise UsageError(f"draws must be an integer, at least 1, not {random_points!r}")
    total = math.prod(len(values) for values in grid.values()) * (random_points if random_options else 1) * len(seeds)
    if total > RUNS_MAX:
        raise UsageError(f"the sweep has {total} runs, but at most {RUNS_MAX} are allowed")
    runs: dict[str, Run] = {}
    for point in _points(grid, random_options, random_points):
        for seed in seeds:
            options = _build({**fixed, **point, "seed": seed})
            run = Run(run_id(options), options)
            runs[run.run_id] = run
    return Sweep(str(table.get("name", name)), (*grid, *random_options), tuple(runs.values()))


def run_id(options: ExperimentOptions) -> str:
    """Return 16 hex digits that identify a run."""
    text = json.dumps({"kmirror": __version__, **asdict(options)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _options(table: Mapping[str, Any], part: str) -> dict[str, Any]:
    found = table.get(part, {})
    if not isinstance(found, dict):
        raise UsageError(f"[{part}] must be a table")
    for name in found:
        if name not in OPTION_NAMES:
            raise UsageError(f"[{part}] has no option {name!r}{_hint(name, OPTION_NAMES)}")
    return found


def _hint(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, 1)
    return f": did you mean {near[0]!r}?" if near else f": there are {', '.join(known)}"


def _seeds(value: Any, *tables: Mapping[str, Any]) -> list[int]:
    if any("seed" in table for table in tables):
        raise UsageError("seeds must be at the top level: seeds = 5, or seeds = [1, 2, 3]")
    if type(value) is int and value > 0:
        return list(range(value))
    if isinstance(value, list) and value and all(type(seed) is int for seed in value):
        return value
    raise UsageError(f"seeds must be a number or a list of seeds, not {value!r}")


def _points(grid: Mapping[str, Any], random_options: Mapping[str, Any], random_points: int) -> Iterator[dict[str, Any]]:
    number = 0
    for values in product(*grid.values()):
        point = dict(zip(grid, values, strict=True))
        if not random_options:
            yield point
            continue
        for _ in range(random_points):
            rng = Rng(DRAW_SEED).split(f"point {number}")
            number += 1
            yield point | {name: _draw(name, spec, rng.split(name)) for name, spec in random_options.items()}


def _draw(name: str, spec: Any, rng: Rng) -> Any:
    if isinstance(spec, list) and spec:
        return rng.choice(spec)
    if isinstance(spec, dict) and spec.keys() <= {"min", "max", "scale"} and {"min", "max"} <= spec.keys():
        low, high, scale = spec["min"], spec["max"], spec.get("scale", "linear")
        if type(low) is int and type(high) is int and low <= high:
            if scale == "linear":
                return rng.between(low, high)
            if scale == "log" and low > 0:
                part = rng.below(1 << 32) / (1 << 32)
                return min(max(round(low * (high / low) ** part), low), high)
    raise UsageError(f'[random] {name} is a list, or {{ min = 1, max = 100, scale = "linear" or "log" }}, not {spec!r}')


def _build(values: Mapping[str, Any]) -> ExperimentOptions:
    options = ExperimentOptions(**values)
    problem = options.problem()
    if problem is not None:
        raise UsageError(problem)
    return options
