"""Kafka's parsing of command lines, with options made up for it; results of Kafka's tools are in tests/golden/cli."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner, Result

from kmirror.cli.kafka_options import KafkaCommand, OptionRow, ParsedOptions, parse_options
from kmirror.errors import UsageError

ROWS = (
    OptionRow(("flag",), "Wave it."),
    OptionRow(("size",), "How large.", "BYTES"),
    OptionRow(("kind",), "Of what kind.", "CLASS", is_optional=True),
    OptionRow(("output", "o"), "How it looks.", "text|json"),
)


@click.command("tool", cls=KafkaCommand, rows=ROWS, required="size", version="1.2.3")
def tool(parsed: ParsedOptions) -> None:
    """Print the parsed size."""
    click.echo(parsed.number("size", 5))


def invoke(*words: str) -> Result:
    return CliRunner().invoke(tool, words)


@pytest.mark.parametrize(
    ("words", "output"),
    [("-o json", "json"), ("-o=json", "json"), ("-ojson", "json"), ("--output=json", "json"), ("--flag", "text")],
)
def test_one_letter_is_a_name_too(words: str, output: str) -> None:
    assert parse_options(words.split(), ROWS).one_of("output", "text", "json") == output


def test_an_option_without_its_value_counts_as_given() -> None:
    parsed = parse_options(["--kind", "--flag", "-size", "-7"], ROWS)
    assert parsed.has("kind") and parsed.has("nothing", "flag") and not parsed.has("output")
    assert (parsed.text("kind", "mine"), parsed.number("size", 5)) == ("mine", -7)
    assert parse_options(["--kind", "yours", "left over"], ROWS).text("kind", "mine") == "yours"
    assert parse_options([], ROWS).number("size", 5) == 5


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--siz=1", "there is no option --siz; did you mean --size?"),
        ("--ouptut json", "there is no option --ouptut; did you mean --output?"),
        ("-fs", "there is no option -fs; --help shows all"),
        ("--flag --size", "--size needs a value, BYTES"),
        ("-o", "--output needs a value, text|json"),
    ],
)
def test_words_that_are_refused(words: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_options(words.split(), ROWS)
    assert str(refused.value) == reason


def test_values_are_validated_when_they_are_used() -> None:
    parsed = parse_options(["--size", "1", "--size", "2", "--kind=9223372036854775808", "--output", "xml"], ROWS)
    with pytest.raises(UsageError, match=r"^--size was given 2 times, but takes one value$"):
        parsed.number("size", 5)
    with pytest.raises(UsageError, match=r"^--kind must be a 32-bit number, not '9223372036854775808'$"):
        parsed.number("kind", 5)
    with pytest.raises(UsageError, match=r"^--output must be one of text, json, not 'xml'$"):
        parsed.one_of("output", "text", "json")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("--help", "--version")])
def test_help_names_every_option(words: tuple[str, ...]) -> None:
    result = invoke(*words)
    assert (result.exit_code, result.stdout if words else result.stderr) == (0 if words else 1, result.output)
    shown = (
        "Print the parsed size.",
        "--flag ",
        "--size BYTES",
        "--kind [CLASS]",
        "-o, --output text|json",
        "--help",
        "--version",
    )
    assert [text for text in shown if text not in result.output] == []


def test_version_and_required_options() -> None:
    assert (invoke("--version").exit_code, invoke("--version").stdout) == (0, "1.2.3\n")
    assert str(invoke("--flag").exception) == "--size is missing; --help shows all options"
    assert invoke("--size", "7").stdout == "7\n"


def test_a_shell_completes_words() -> None:
    context = tool.make_context("tool", ["--nope"], resilient_parsing=True)
    assert [item.value for item in tool.shell_complete(context, "--f")] == ["--flag"]
    files = OptionRow(("files",), "What to read.", "FILE,FILE...").as_click()
    assert [item.type for item in files.shell_complete(context, "orders")] == ["file"]
