"""`python -m benchmarks [GROUP...] [-o json] [--quick]`: exit code 1 if a ratio is below its floor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from benchmarks import log, protocol, records, spark
from benchmarks.harness import FULL, QUICK, Case, Row, is_installed, run

GROUPS: dict[str, Callable[[], list[Case]]] = {
    "protocol": protocol.cases,
    "records": records.cases,
    "log": log.cases,
    "spark": spark.cases,
}

COLUMNS = "{:<4} {:<56} {:<13} {:>8} {:>8} {:>8} {:>7} {:>7}  {}"


def line(row: Row) -> str:
    floor = "-" if row.floor is None else f"{row.floor:g}"
    reach = "-" if row.reach is None else f"{row.reach:g}"
    verdict = ""
    if row.is_below_floor:
        verdict = "BELOW THE FLOOR"
    elif row.reach is not None and row.ratio >= row.reach:
        verdict = "reached"
    return COLUMNS.format(
        row.id, row.case, row.peer, f"{row.ratio:.2f}", f"{row.low:.2f}", f"{row.high:.2f}", floor, reach, verdict
    ).rstrip()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all if none is named")
    parser.add_argument("-o", dest="output", choices=["table", "json"], default="table", help="json: a line per row")
    parser.add_argument("--quick", action="store_true", help="shorter slices: a rough answer in a minute")
    parser.add_argument("--only", default="", help="only cases whose name holds this text")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group is named {unknown[0]!r}")
    chosen = [case for name in options.groups or GROUPS for case in GROUPS[name]()]
    chosen = [case for case in chosen if options.only in f"{case.id} {case.case} {case.peer}"]
    missing = sorted({c.peer for c in chosen if c.peer not in ("asyncio", "kmirror") and not is_installed(c.peer)})
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (pip install kmirror[bench])", file=sys.stderr)
        chosen = [case for case in chosen if case.peer not in missing]
    if options.output == "table":
        print(COLUMNS.format("id", "case", "peer", "ratio", "low", "high", "floor", "reach", "").rstrip())
    is_below = False
    for row in run(chosen, QUICK if options.quick else FULL):
        print(row.to_json() if options.output == "json" else line(row), flush=True)
        is_below |= row.is_below_floor
    return 1 if is_below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
