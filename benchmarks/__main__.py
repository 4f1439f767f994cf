"""`python -m benchmarks [GROUP...]`: exit code 1 if a ratio is below its floor, or has fallen since it was recorded.

python -m benchmarks log -o json                     a line of JSON for each row
python -m benchmarks log --compare FILE              compare with the rows in FILE
python -m benchmarks --from NOW --compare THEN       compare two recorded files; nothing is measured
python -m benchmarks protocol records log tools --record   record the rows, and renew the tables in docs/
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import (
    engine,
    fuzz,
    histories,
    log,
    long_lines,
    mirror,
    net,
    pass_through,
    protocol,
    proxy,
    records,
    report,
    spark,
    tools,
)
from benchmarks.harness import FULL, QUICK, Case, Effort, Row, run

GROUPS: dict[str, Callable[[], list[Case]]] = {
    "protocol": protocol.cases,
    "records": records.cases,
    "log": lambda: log.cases() + pass_through.cases(),
    "engine": engine.cases,
    "histories": histories.cases,
    "tools": tools.cases,
    "net": net.cases,
    "mirror": mirror.cases,
    "lines": long_lines.cases,
    "spark": spark.cases,
    "fuzz": fuzz.cases,
    "proxy": proxy.cases,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all if none is named")
    add("-o", dest="output", choices=["table", "json", "markdown"], default="table", help="json: a line per row")
    add("--quick", action="store_true", help="shorter slices: a rough answer in a minute")
    add("--only", default="", help="only cases whose name holds this text")
    add("--from", dest="row_files", nargs="+", type=Path, metavar="FILE", help="take these rows instead of measuring")
    add("--compare", nargs="+", type=Path, metavar="FILE", help="compare with the rows recorded there")
    add("--record", action="store_true", help="keep the rows in benchmarks/recorded, and their table in the docs")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group is named {unknown[0]!r}")
    if options.record and (options.quick or options.only or options.row_files):
        parser.error("--record is for whole groups, measured in full")
    if options.groups and options.row_files:
        parser.error("--from takes all rows of its files, and no GROUP")
    return options


def possible_cases(group: str, only: str) -> list[Case]:
    """Return the cases of a group that can be measured here, and print the missing peers."""
    found = [case for case in GROUPS[group]() if only in f"{case.id} {case.case} {case.peer}"]
    missing = sorted({case.peer for case in found if not case.is_possible})
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (pip install kmirror[bench])", file=sys.stderr)
    return [case for case in found if case.is_possible]


def measure_rows(options: argparse.Namespace, effort: Effort) -> Iterator[Row]:
    for group in options.groups or GROUPS:
        rows = []
        for row in run(possible_cases(group, options.only), effort):
            rows.append(row)
            yield row
        if options.record and rows:
            report.record(group, rows)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    old_rows = report.read_rows(options.compare or [])
    source = (
        report.read_rows(options.row_files)
        if options.row_files
        else measure_rows(options, QUICK if options.quick else FULL)
    )
    is_printed = options.compare is None or not options.row_files  # Measured rows are printed immediately.
    if options.output == "table" and is_printed:
        print(report.header(), flush=True)
    rows = []
    for row in source:
        rows.append(row)
        if is_printed and options.output != "markdown":
            print(row.to_json() if options.output == "json" else report.line(row), flush=True)
    if options.only and not rows:
        print(f"nothing was measured: no case that can run here has {options.only!r} in its line", file=sys.stderr)
        return 2
    if options.output == "markdown":
        print(report.markdown(rows), end="")
    fallen = 0
    if options.compare is not None:
        lines, fallen = report.comparison(old_rows, rows)
        # With `-o json` standard output has rows only, for programs.
        print("\n".join(lines), file=sys.stdout if options.output == "table" else sys.stderr)
    return int(fallen > 0 or (is_printed and any(row.is_below_floor for row in rows)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
