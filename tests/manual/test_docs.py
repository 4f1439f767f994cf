"""The examples of README.md and docs/ work, their tables equal the code's; and each of these checks works."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from kmirror.cli.commands import COMMANDS
from kmirror.cli.group import build
from kmirror.spark.folders import SPLIT_BYTES
from kmirror.spark.options import CHOICES, NAMES
from manual.blocks import LANGUAGES, Block, blocks_of, commands_of, find_problems
from manual.run import ExampleFailed, matches, run_page
from manual.tables import TABLES, rows_of, table_names, with_generated_tables

ROOT = Path(__file__).resolve().parents[2]
SPARK_PAGES = ("docs/spark.md", "docs/sweeps.md")
"""Their examples start a JVM: `tests/spark/test_manual.py` runs them."""

NOT_RUN: Mapping[str, int] = {
    "docs/benchmark-tables.md": 2,
    "docs/benchmarks.md": 1,
    "docs/failover-over-a-wan.md": 2,
    "docs/faults.md": 1,
    "docs/first-mirror.md": 12,  # tests/interop/mirror/test_first_mirror.py runs seven of them.
    "docs/hooks.md": 1,
    "docs/index.md": 1,
    "docs/proxy.md": 2,
    "docs/serve.md": 2,
    "docs/start.md": 1,
    "docs/testing.md": 1,
    "docs/transactions-and-rpo.md": 2,
}
"""Page to the number of blocks whose title says that they are not run, and the reason."""


def pages() -> list[str]:
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page.relative_to(ROOT).as_posix() for page in found]


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def has_examples(page: str) -> bool:
    return any(block.is_run for block in blocks_of(text_of(page)))


@pytest.mark.parametrize("page", [page for page in pages() if has_examples(page) and page not in SPARK_PAGES])
def test_the_examples_of_a_page_run_with_the_shown_output(page: str, tmp_path: Path) -> None:
    assert run_page(ROOT / page, tmp_path) > 0


@pytest.mark.parametrize("page", pages())
def test_each_example_of_a_page_can_be_run_or_has_a_reason(page: str) -> None:
    # The README's two commands set the project up: tests/repo/test_readme.py and .ci/run check them.
    languages = (*LANGUAGES, "sh") if page == "README.md" else LANGUAGES
    assert list(find_problems(text_of(page), languages=languages)) == []


def test_examples_that_are_not_run_are_counted() -> None:
    found = {page: sum(b.reason_not_run is not None for b in blocks_of(text_of(page))) for page in pages()}
    assert {page: count for page, count in found.items() if count} == NOT_RUN


@pytest.mark.parametrize("page", pages())
def test_tables_equal_the_generated_ones(page: str) -> None:
    text = text_of(page)
    assert with_generated_tables(text) == text, "run `python -m manual`"


def test_every_table_is_on_a_page() -> None:
    assert sorted(name for page in pages() for name in table_names(text_of(page))) == sorted(TABLES)


def test_command_lines_name_commands_and_flags_that_exist() -> None:
    """For all of them, including those that are not run."""
    top = build(COMMANDS)
    sessions = [(page, b) for page in pages() for b in blocks_of(text_of(page)) if b.language == "console"]
    lines = [(page, command.text) for page, block in sessions for command in commands_of(block)]
    assert lines
    for page, line in lines:
        words = shlex.split(line)
        if words[0] != "kmirror":
            continue
        command = top.get_command(click.Context(top), words[1]) if not words[1].startswith("-") else top
        assert command is not None, f"{page}: no command {words[1]}"
        known = {name for option in command.params for name in option.opts} | {"-h", "--help", "--version"}
        flags = {word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        assert flags <= known, f"{page}: {words[1]} has no {flags - known}"


def test_archives_are_unpacked_without_a_warning() -> None:
    """Python 3.12 and 3.13 print one for `python -m tarfile -e`, which the page does not show."""
    blocks = [block for page in pages() for block in blocks_of(text_of(page)) if block.language == "console"]
    found = [command.text for block in blocks for command in commands_of(block) if "-m tarfile" in command.text]
    assert found and [text for text in found if not text.startswith("python -W ignore -m tarfile -e ")] == []


def test_the_options_of_kafka_log_are_all_there_with_their_words() -> None:
    rows = [[cell.replace("`", "") for cell in row] for row in rows_of(text_of("docs/spark.md"), "## Options")]
    assert tuple(name for name, _, _ in rows) == NAMES
    defaults = {name: default for name, default, _ in rows}
    about = {name: text for name, _, text in rows}
    for name, words in CHOICES.items():
        assert defaults[name] == words[0]
        # The description of `default` may be given by those of the others.
        assert [word for word in words[1:] if word not in about[name]] == [], name
    assert defaults["splitBytes"] == str(SPLIT_BYTES)


def test_no_table_of_the_manual_lacks_a_description() -> None:
    page = text_of("docs/sweeps.md")
    rows = [*rows_of(page, "## Options"), *rows_of(page, "## Columns of the results")]
    assert [row[0] for row in rows if not row[-1]] == []


LINK = re.compile(r"\]\((?P<page>[\w/-]+\.md)?(?:#(?P<anchor>[\w-]+))?\)")


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that the manual gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S), re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def test_the_index_of_tasks_links_each_to_a_section_that_exists() -> None:
    rows = [line for line in text_of("docs/how-to.md").splitlines() if line.startswith("| ") and "](" in line]
    assert len(rows) >= 30
    for row in rows:
        (link,) = LINK.finditer(row)
        page = ROOT / "docs" / link["page"]
        assert page.is_file() and (link["anchor"] is None or link["anchor"] in anchors_of(page)), row


def test_every_page_of_the_manual_is_in_the_navigation() -> None:
    listed = re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text("utf-8"))
    assert len(set(listed)) == len(listed)
    # Single decisions are reached from their index, and CHANGELOG.md is no page of the manual.
    expected = {page for page in pages() if page.startswith("docs/") and not page.startswith("docs/decisions/")}
    assert {f"docs/{name}" for name in listed if not name.startswith("decisions/")} == expected


# -- the checks -------------------------------------------------------------------------------


def run(markdown: str, folder: Path) -> int:
    page = folder / "page.md"
    page.write_text(markdown, "utf-8")
    (folder / "run").mkdir()
    return run_page(page, folder / "run")


GOOD = """# Page

```toml title="a.toml"
a = 1
```

```python
from pathlib import Path
print(Path("a.toml").read_text())
```

```output
a = ...

```

```python
b = Path("a.toml").stat().st_size
```

```console
$ cat a.toml
a = 1
$ echo one; \\
  echo two
...
two
```

```console title="exit code 3"
$ exit 3
```

```python
assert b == 6
```

```python title="not run: it would not end"
while True: pass
```
"""


def test_a_page_runs_from_top_to_bottom_in_one_namespace_and_folder(tmp_path: Path) -> None:
    here = Path.cwd()
    assert run(GOOD, tmp_path) == 6
    assert Path.cwd() == here


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a = ...", "b = ...", "page.md:7\nprints something else"),
        ("assert b == 6", "assert b == 7", "page.md:35: AssertionError"),
        ("assert b == 6", "1 / 0", "page.md:35: ZeroDivisionError"),
        ("b = Path", "print(1)\nb = Path", "page.md:17\nprints something else"),
        ("$ cat a.toml\na = 1", "$ cat a.toml\na = 2", "page.md:22: $ cat a.toml\nprints something else"),
        ("two\n```", "three\n```", "prints something else"),
        ("$ exit 3", "$ exit 4", "ended with 4, not with 3"),
        ("exit code 3", "exit code 0", "ended with 3, not with 0"),
        ("$ echo one", "$ false || exit 1\n$ echo one", "ended with 1, not with 0"),
    ],
)
def test_an_example_that_does_something_else_is_reported(
    before: str, after: str, expected: str, tmp_path: Path
) -> None:
    assert before in GOOD
    with pytest.raises(ExampleFailed) as caught:
        run(GOOD.replace(before, after), tmp_path)
    assert expected in str(caught.value)


def test_a_hanging_command_and_an_unreadable_page_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manual.run.SECONDS_MAX", 0)
    with pytest.raises(ExampleFailed, match=r"page\.md:2: \$ read line < /dev/zero\ndid not end within 0 s"):
        run("```console\n$ read line < /dev/zero\n```\n", tmp_path)
    with pytest.raises(ExampleFailed, match=r"nowhere\.md: .*No such file"):
        run_page(tmp_path / "nowhere.md", tmp_path)
    (tmp_path / "open.md").write_text("```python\n", "utf-8")
    with pytest.raises(ExampleFailed, match=r"open\.md: line 1: the fence is never closed"):
        run_page(tmp_path / "open.md", tmp_path)


def test_a_page_without_examples_runs_none(tmp_path: Path) -> None:
    assert run("# Page\n", tmp_path) == 0


def test_commands_are_those_of_this_tree(tmp_path: Path) -> None:
    where = "import kmirror; print(kmirror.__file__)"
    page = f"```console\n$ python -c '{where}'\n{ROOT / 'kmirror/__init__.py'}\n$ kmirror --version\nkmirror ...\n```\n"
    assert run(page, tmp_path) == 1
    assert "COLUMNS" not in os.environ or os.environ["COLUMNS"] != "80", "the page's variables are not this process's"


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        (["a", "b"], ["a  ", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["a", "..."], ["a"], True),
        (["a", "...", "c"], ["a", "b", "b", "c"], True),
        (["a", "...", "c"], ["a", "b", "d"], False),
        (["a ... c"], ["a b c"], True),
        (["a ... c"], ["a", "c"], False),
        (["a.c"], ["abc"], False),
        ([], [], True),
        ([], ["a"], False),
        (["..."], [], True),
    ],
)
def test_dots_match_omitted_output(expected: list[str], printed: list[str], same: bool) -> None:
    assert matches(expected, printed) is same


FAULTY = [
    ("```python\nx = 1\n", "line 1: the fence is never closed"),
    ("```pyhton\nx = 1\n```\n", "line 1: a block is one of"),
    ("```\nx = 1\n```\n", "line 1: a block is one of"),
    ("```python skip\nx = 1\n```\n", "line 1: a block is one of"),
    ('```python title="not run: "\nx = 1\n```\n', "line 1: give the reason why it is not run"),
    ('```python title="not run:"\nx = 1\n```\n', "line 1: give the reason why it is not run"),
    ("```toml\nx = 1\n```\n", "line 1: the title of a toml block"),
    ("```console\nkmirror demo\n```\n", "line 2: a console block begins with"),
    ('```console title="exit code one"\n$ exit 1\n```\n', "line 1: an exit code is a number"),
    ('```python title="exit code 1"\nexit(1)\n```\n', "line 1: an exit code is a number"),
    ("```output\n1\n```\n", "line 1: output follows a python block"),
    ("Text:\n\n    kmirror demo\n", "line 3: fence the code"),
]


@pytest.mark.parametrize(("markdown", "expected"), FAULTY)
def test_a_block_that_nothing_would_run_is_reported(markdown: str, expected: str) -> None:
    if "never closed" in expected:
        with pytest.raises(ValueError, match=expected):
            list(find_problems(markdown))
        return
    (found,) = find_problems(markdown)
    assert found.startswith(expected)


def test_lists_may_be_indented() -> None:
    assert list(find_problems("- one\n\n    of more than a paragraph\n\n1. two\n\n    likewise\n")) == []


def test_a_stale_table_and_one_without_a_name_are_noticed() -> None:
    page = "<!-- table: figures -->\n<!-- end of table -->\n"
    assert with_generated_tables(page) != page
    assert with_generated_tables(with_generated_tables(page)) == with_generated_tables(page)
    assert "`rpo_records`" in with_generated_tables(page)
    with pytest.raises(KeyError, match="nonsense"):
        with_generated_tables(page.replace("figures", "nonsense"))


def test_a_block_has_an_exit_code_or_a_reason_not_to_run() -> None:
    block = Block(1, "console", "exit code 4", "$ kmirror explore\n")
    assert (block.exit_code, block.reason_not_run) == (4, None)
    assert Block(1, "console", "not run: needs a cluster", "").reason_not_run == "needs a cluster"
