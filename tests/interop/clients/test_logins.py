"""JAAS configs and passwords, read by Kafka's 4.3.1 client and by kmirror's."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kmirror.client.jaas import parse_jaas
from kmirror.client.scram import HASHES, SaltedPasswords
from kmirror.errors import UsageError
from tests.interop.jvm import java

PROGRAM = Path(__file__).parent / "java" / "Logins.java"
CASES = int(os.environ.get("KMIRROR_LOGIN_CASES", "30000"))
PIECES = [
    *"ab9.-_$=;,:/*\\\"'\n\r\t #\x80\x9f\xa0é😀",
    "//",
    "/*",
    "*/",
    "required",
    "u=",
    'p="x"',
    "\\n",
    "\\7",
    "\\400",
]
UNPREPARED = ("pencil", "a\xadb", "\u2168", "ﬁ", "a\xa0b", "e\u0301", "é", "\u0007", "ÅΩ", "😀")
"""Texts that SASLprep would change, refuse, or map to another of these."""


def ask_kafka(class_path: str, questions: Sequence[str]) -> list[str]:
    done = subprocess.run(
        java(class_path, PROGRAM, "-Xmx256m"),
        input="".join(f"{question}\n" for question in questions).encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().splitlines()


def read_by_us(config: str) -> str:
    try:
        module = parse_jaas(config)
    except UsageError:
        return "refused"
    options = sorted(f"{key.encode().hex()}={value.encode().hex()}" for key, value in module.options.items())
    return " ".join([module.name.encode().hex(), *options])


def test_any_jaas_config_is_read_as_by_kafka(kafka_class_path: str) -> None:
    draw = random.Random(17)
    configs = ["".join(draw.choices(PIECES, k=draw.randint(0, 12))) for _ in range(CASES)]
    configs = [f"a.B required {config};" if n % 4 else config for n, config in enumerate(configs)]
    answers = ask_kafka(kafka_class_path, [f"jaas {config.encode().hex()}" for config in configs])
    taken = sum(answer != "refused" for answer in answers)
    assert CASES // 50 < taken < CASES // 2
    ours = [(config, read_by_us(config)) for config in configs]
    assert [pair for pair, answer in zip(ours, answers, strict=True) if pair[1] != answer] == []


def test_passwords_are_taken_without_saslprep(kafka_class_path: str) -> None:
    cases = [(mechanism, password) for mechanism in HASHES for password in UNPREPARED]
    salt, iterations = b"salt", 4096
    questions = [f"scram {mechanism} {word.encode().hex()} {salt.hex()} {iterations}" for mechanism, word in cases]
    ours = [SaltedPasswords().get(HASHES[mechanism], word, salt, iterations).hex() for mechanism, word in cases]
    assert ask_kafka(kafka_class_path, questions) == ours
