"""`python -m benchmarks.faults`: number of planted faults that are found, and their finders.

python -m benchmarks.faults run --jobs 2              run histories and tests for every fault
python -m benchmarks.faults run --finders explorer fuzzer simulator --survivors
                                                      run others for faults that were not found yet
python -m benchmarks.faults findings                  plant old mistakes, and run the histories made for them
python -m benchmarks.faults report                    print the tables, and renew them in docs/faults.md
python -m benchmarks.faults draw 50 --seed 7          draw other faults with cosmic-ray into drawn.toml
python -m benchmarks.faults nightly --count 200       draw new faults, run all finders, print the survivors
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.faults import findings, report
from benchmarks.faults.campaign import Campaign, read_results
from benchmarks.faults.drawing import PACKAGES, draw_faults
from benchmarks.faults.finders import FINDERS
from benchmarks.faults.rows import FAULTS_FOLDER, Fault, controls, read_faults, to_toml

RESULTS = FAULTS_FOLDER / "results.jsonl"
DEFAULT_FINDERS = ("histories", "tests")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="plant faults and ask finders")
    run.add_argument("--finders", nargs="+", choices=list(FINDERS), default=list(DEFAULT_FINDERS), metavar="FINDER")
    run.add_argument("--survivors", action="store_true", help="only faults that nothing has found yet")
    run.add_argument("--only", default="", help="only faults whose name holds this text")
    nightly = commands.add_parser("nightly", help="draw new faults and run the finders on each until one finds it")
    nightly.add_argument("--count", type=int, default=200)
    nightly.add_argument("--seed", type=int, default=None, help="of the draw; the day if it is not given")
    for command in (run, nightly):
        command.add_argument("--histories", type=int, default=100, help="at the most, for each fault (100)")
        command.add_argument("--jobs", type=int, default=1)
        command.add_argument("--results", type=Path, default=None, metavar="FILE", help="a file of JSON lines")
    findings_parser = commands.add_parser(
        "findings", help="put old mistakes back, and ask histories of full and those made for them"
    )
    findings_parser.add_argument(
        "--histories", type=int, default=60, help="at the most, for each fault and profile (60)"
    )
    findings_parser.add_argument("--only", default="", help="only faults whose name holds this text")
    draw = commands.add_parser("draw", help="draw faults with cosmic-ray")
    draw.add_argument("count", type=int)
    draw.add_argument("--seed", type=int, required=True)
    draw.add_argument("--packages", nargs="+", default=list(PACKAGES), metavar="PACKAGE")
    report_parser = commands.add_parser("report", help="print the tables, and renew them in docs/faults.md")
    report_parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    if options.command == "draw":
        (FAULTS_FOLDER / "drawn.toml").write_text(
            to_toml(draw_faults(options.count, options.seed, options.packages)), encoding="utf-8"
        )
        return 0
    if options.command == "findings":
        findings.run_findings(count=options.histories, only=options.only)
        print(findings.table())
        return 0
    if options.command == "report":
        report.update_tables(read_faults(), read_results(options.results))
        return 0
    if options.command == "nightly":
        seed = int(time.strftime("%Y%m%d")) if options.seed is None else options.seed
        faults = draw_faults(options.count, seed)
        results = options.results or Path(f"faults-{seed}.jsonl")
        campaign = _campaign(options, results)
        if _has_false_findings(campaign, faults, list(FINDERS), options.jobs):
            return 1
        campaign.run(faults, list(FINDERS), jobs=options.jobs, until_found=True)
        print(report.table(faults, read_results(results)))
        return 0
    results = options.results or RESULTS
    faults = _select_faults(options, results)
    campaign = _campaign(options, results)
    if _has_false_findings(campaign, faults, options.finders, options.jobs):
        return 1
    campaign.run(faults, options.finders, jobs=options.jobs, until_found=options.survivors)
    print(report.summary(read_faults(), read_results(results)))
    return 0


def _campaign(options: argparse.Namespace, results: Path) -> Campaign:
    return Campaign(results, histories=options.histories, report_line=lambda line: print(line, flush=True))


def _has_false_findings(campaign: Campaign, faults: Sequence[Fault], finders: Sequence[str], jobs: int) -> bool:
    """Return whether a finder reports a finding without a planted fault, and print it."""
    rows = controls(faults)
    others = [name for name in finders if name not in ("tests", "histories")]
    false_findings = campaign.run(rows, [name for name in finders if name == "tests"], jobs=jobs, until_found=False)
    false_findings += campaign.run(rows[:1], others, jobs=jobs, until_found=False)
    findings = [f"{row.finder}: {row.found}" for row in false_findings]
    if "histories" in finders:
        findings += [f"history {run.seed}: {run.found}" for run in campaign.measure_reach(faults, jobs=jobs)]
    for finding in findings:
        print(f"{finding}, although nothing is planted: no result counts", file=sys.stderr)
    return bool(findings)


def _select_faults(options: argparse.Namespace, results: Path) -> list[Fault]:
    faults = [fault for fault in read_faults() if options.only in fault.name]
    if not options.survivors:
        return faults
    found = {row.fault for row in read_results(results) if row.found}
    return [fault for fault in faults if fault.name not in found]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
