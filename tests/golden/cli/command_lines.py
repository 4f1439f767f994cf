"""Command lines of kafka-dump-log, and the results of Kafka 4.3.1's own tool.

tests/interop/log compares the table with the tool itself.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from tests.golden.cli.runs import SAMPLE

_SEGMENT: Final = SAMPLE / "kraft-4.3" / "data" / "txn-1" / f"{0:020}"
_FILES: Final = re.compile("LOG|INDEX")
_STRINGS: Final = "org.apache.kafka.tools.api.StringDecoder"
_NUMBERS: Final = "org.apache.kafka.tools.api.LongDecoder"

VERSION: Final = "--version"
PLAIN: Final = "--files LOG"
DATA: Final = "--print-data-log --files LOG"
INDEX: Final = "--files INDEX"
CUT: Final = "--max-bytes 100 --files LOG"
OFFSETS: Final = "--offsets-decoder --files LOG"
NOTHING: Final = ""


class CommandLine(NamedTuple):
    """`words` with LOG and INDEX, separated by blanks, where '' is an empty word."""

    words: str
    exit_code: int
    like: str  # The command line with the same text on stdout; NOTHING if there is none.

    def on(self, folder: Path) -> list[str]:
        """Return the words for the files of `lay_out`."""
        return arguments(self.words, folder)


def arguments(words: str, folder: Path) -> list[str]:
    paths = {"LOG": f"{folder / _SEGMENT.name}.log", "INDEX": f"{folder / _SEGMENT.name}.index"}
    found = [_FILES.sub(lambda name: paths[name[0]], word) for word in words.split()]
    return ["" if word == "''" else word for word in found]


def lay_out(folder: Path) -> Path:
    """Put a copy of a log and its index into `folder`, since Kafka's tool trims the files that it opens."""
    for suffix in (".log", ".index"):
        shutil.copyfile(_SEGMENT.with_suffix(suffix), folder / f"{_SEGMENT.name}{suffix}")
    return folder


def _rows(exit_code: int, like: str, *lines: str) -> list[CommandLine]:
    return [CommandLine(line, exit_code, like) for line in lines]


TABLE: Final = [
    *_rows(0, VERSION, "-version", "--version --files LOG", "--version LOG", "--files --version --version"),
    *_rows(1, NOTHING, ""),
    # Options, and the beginnings of values.
    *_rows(0, PLAIN, "--files=LOG", "-files LOG", "-files=LOG", "--files LOG,", "--files LOG,,,"),
    *_rows(0, PLAIN, "LOG --files LOG", "--files LOG LOG INDEX", "- '' --files LOG", "--files LOG -- --nope"),
    *_rows(0, NOTHING, "--files ,", "--files ,,"),
    *_rows(0, "--files=--print-data-log", "--files --print-data-log", "--files --print-data-log LOG"),
    *_rows(1, NOTHING, "LOG", "--print-data-log", "-- --files LOG", "--max-bytes --files LOG"),
    *_rows(1, NOTHING, "--files", "--files LOG --max-bytes", "--files LOG --files LOG", "--files LOG --files=INDEX"),
    *_rows(1, NOTHING, "--nope --files LOG", "--help --nope", "--version -x", "--FILES LOG", "--=LOG", "-=LOG"),
    *_rows(1, NOTHING, "--print-data --files LOG", "--file LOG", "-f LOG", "-fLOG", "-p --files LOG", "--max-b 9"),
    *_rows(1, NOTHING, "---files LOG", "--topic t --files LOG", "--t --files LOG", "-W files=LOG", "-pd --files LOG"),
    # Flags.
    *_rows(0, DATA, "--files LOG --print-data-log", "-print-data-log --files LOG", "--print-data-log no --files LOG"),
    *_rows(0, DATA, "--print-data-log=false --files LOG", "--print-data-log --print-data-log -files LOG"),
    *_rows(0, PLAIN, "--skip-record-metadata --files LOG", "--verify-index-only --index-sanity-check --files LOG"),
    *_rows(0, INDEX, "--print-data-log --files INDEX", "--skip-record-metadata --offsets-decoder --files INDEX"),
    *_rows(0, "--index-sanity-check --files INDEX", "--verify-index-only --index-sanity-check --files INDEX"),
    # Decoders: the first in the tool's own order is used, and a topic's before a class.
    *_rows(0, OFFSETS, "--transaction-log-decoder --offsets-decoder --files LOG"),
    *_rows(0, OFFSETS, f"--offsets-decoder --key-decoder-class {_NUMBERS} --files LOG"),
    *_rows(0, OFFSETS, "--offsets-decoder --value-decoder-class no.such.Class --files LOG"),
    *_rows(0, DATA, "--key-decoder-class --files LOG", "--files LOG --value-decoder-class"),
    *_rows(0, DATA, f"--key-decoder-class {_STRINGS} --value-decoder-class={_STRINGS} --files LOG"),
    *_rows(0, DATA, "--key-decoder-class --value-decoder-class --key-decoder-class --files LOG"),
    *_rows(0, INDEX, "--key-decoder-class no.such.Class --files INDEX"),
    # Numbers: a command that does not need one does not parse it.
    *_rows(0, CUT, "--max-bytes=+100 --files LOG", "--files LOG -max-bytes 0100"),
    *_rows(0, PLAIN, "--max-bytes 2147483647 --files LOG", "--max-message-size 5MB --files LOG"),
    *_rows(0, PLAIN, "--max-message-size 1 --max-message-size 2 --files LOG"),
    *_rows(0, INDEX, "--max-bytes x --files INDEX", "--max-bytes 1 --max-bytes 2 --files INDEX"),
]

# Here Kafka's tool shows its help, on stderr and with exit code 1. kmirror's behaves like all its commands.
ASKED_FOR_HELP: Final = ["--help", "-help", "--help --files LOG", "--version --help", "--help --version"]

# Here Kafka's tool starts to read the file, and fails when it needs the value.
REFUSED_AT_A_FILE: Final = [
    *("--max-bytes x --files LOG", "--max-bytes= --files LOG", "--max-bytes 1_0 --files LOG"),
    *("--max-bytes 2147483648 --files LOG", "--max-bytes 9 --max-bytes 9 --files LOG"),
    *("--max-message-size 5MB --files INDEX", "--max-message-size 9 --max-message-size 9 --files INDEX"),
    *("--key-decoder-class no.such.Class --files LOG", "--value-decoder-class= --files LOG"),
    *("--key-decoder-class '' --files LOG", "--key-decoder-class LOG --files LOG"),
    f"--key-decoder-class {_STRINGS} --key-decoder-class {_STRINGS} --files LOG",
]
