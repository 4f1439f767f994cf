"""Output fits a screen of 80 columns with every number complete, and is not wrapped in a pipe."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import cast

import pytest
from rich.console import Console, RenderableType

from kmirror.assembly.mirrors import MirrorRow
from kmirror.cli.demo import failback_table, failover_table, mirror_table
from kmirror.cli.screen import fitting_tables, make_console
from kmirror.experiments.demo import Failback, Failover
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.mirror.facts import LogCut
from kmirror.mirror.states import MirrorState

SHORT, LONG = "compacted-fast", "a-topic-whose-name-takes-more-room-than-any-screen-has-and-goes-on-" * 2
BIG = 1_234_567_890


def rendered(*tables: RenderableType, width: int = 80) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width)
    for table in tables:
        console.print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def demo_tables(topic: str, width: int) -> list[RenderableType]:
    tp = TopicPartition(topic, 12)
    cuts = [LogCut(tp, 5, 7, "the last mirrored epoch 3 ends there"), LogCut(tp, 3, 5, "the logs part")]
    return [
        mirror_table([MirrorRow(tp, BIG, BIG, BIG, MirrorState.PREPARING, 1)], 5, width),
        failover_table([Failover(tp, BIG, BIG, BIG, BIG, BIG)], width),
        failback_table([Failback(tp, BIG, 1, BIG, cast("tuple[LogCut, ...]", tuple(cuts)))], width),
    ]


@pytest.mark.parametrize("topic", [SHORT, LONG])
def test_the_tables_of_the_demo_fit_80_columns_with_complete_numbers(topic: str) -> None:
    for table in demo_tables(topic, 80):
        lines = rendered(table)
        assert max(map(len, lines)) <= 80
        text = "\n".join(lines)
        assert "…" not in text and str(BIG) in text
        assert topic[:5] in text, "what is too long goes on in the lines below"


KEYS, FIGURES = ("latency_ms", "runs"), ("rpo_records", "rpo_ms", "rto_ms", "failback_cut_records", "failback_ms")
ROWS = [["100", "5", *(f"{number}.5 ± {number}.25" for number in range(1_000, 6_000, 1_000))]] * 2


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_a_wide_table_becomes_several_that_fit(width: int) -> None:
    tables = list(fitting_tables(KEYS, FIGURES, ROWS, width, "mean"))
    assert sum(len(table.columns) - len(KEYS) for table in tables) == len(FIGURES), "each figure stands once"
    for table in tables:
        lines = rendered(table, width=width)
        assert max(map(len, lines)) <= width
        assert sum("100" in line for line in lines) == 2, "every table names its rows"
    text = "\n".join(rendered(*tables, width=width))
    assert all(cell in text for cell in (*KEYS, *FIGURES, *ROWS[0]))
    assert len(tables) == {40: 5, 60: 3, 80: 2, 100: 2, 200: 1}[width]


def test_piped_output_is_neither_wrapped_nor_truncated(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "a sentence that goes on " * 30 + "to its end"
    console = make_console()
    console.print(sentence, highlight=False)
    for table in demo_tables(LONG, console.width):
        console.print(table)
    out = capsys.readouterr().out
    assert sentence in out.splitlines()
    assert out.count(LONG) == 3


def printed(*words: str) -> Sequence[str]:
    done = subprocess.run([sys.executable, "-m", "kmirror", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_piped_demo_has_whole_sentences_and_singular_nouns() -> None:
    lines = printed("demo", "--topic", "emptied")
    told = [line for line in lines if line.startswith("mirrored ")]
    assert len(told) == 1 and told[0].startswith("mirrored 1 topic, 1 partition, ") and told[0].endswith("equal again")
    assert "Mirroring 1 topic from a to b" in lines
    assert not [line for line in lines if re.search(r"\b1 (topics|partitions|batches|events|offsets|records)\b", line)]


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [
        (0, "partition", "0 partitions"),
        (1, "partition", "1 partition"),
        (2, "partition", "2 partitions"),
        (1, "batch", "1 batch"),
        (2, "equal batch", "2 equal batches"),
        (2, "history", "2 histories"),
        (1, "index entry", "1 index entry"),
        (0, "index entry", "0 index entries"),
        (3, "loss", "3 losses"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told
