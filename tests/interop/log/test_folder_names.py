"""Folder names, drawn and from the table of the unit test, parsed by a broker and by kmirror.

kmirror accepts names that the broker accepts, of a legal topic, and in the one spelling that the broker writes. With an
id, Kafka's pattern accepts `a-b.c-0.-delete`, because of the dot in the topic.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from kmirror.logdir.names import parse_folder_name
from tests.interop.jvm import java
from tests.unit.logdir.test_names import OTHERS, PARTITIONS, SET_ASIDE_FOLDERS

HERE = Path(__file__).parent
DRAWS = 20_000
NO_ID = (".-delete", ".-future", ".-stray")
PIECES = ["t", "-", "0", ".", "..", "1", "01", "-delete", "-future", "-stray", ".a", "2147483647", "2147483648", "+"]
PIECES += ["a-b", " ", "_", "-0", "-1.f00-delete"]


def test_the_partitions_are_those_of_kafka_s_parser(kafka_class_path: str) -> None:
    draw = random.Random(13)
    drawn = sorted({"".join(draw.choices(PIECES, k=draw.randint(1, 7))) for _ in range(DRAWS)})
    table = [name for name in [*PARTITIONS, *SET_ASIDE_FOLDERS, *OTHERS] if "\n" not in name]
    names = table + drawn
    done = subprocess.run(
        java(kafka_class_path, HERE / "FolderNames.java"),
        input="".join(f"{name}\n" for name in names).encode(),
        capture_output=True,
        check=True,
    )
    answers = done.stdout.decode().splitlines()
    wrong = []
    for name, answer in zip(names, answers, strict=True):
        found = parse_folder_name(name)
        ours = None if found is None else f"{found.tp.topic}\t{found.tp.partition}\ttrue"
        spelled = "-".join(answer.split("\t")[:2])
        is_spelled = name == spelled or (name.startswith(f"{spelled}.") and name.removeprefix(spelled) not in NO_ID)
        is_written = is_spelled and answer.endswith("\ttrue")
        if ours != (answer if is_written else None):
            wrong.append((name, answer, ours))
    assert wrong == []
    assert sum(parse_folder_name(name) is not None for name in drawn) > 100
