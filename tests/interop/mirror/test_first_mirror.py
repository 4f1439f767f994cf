"""The page "Your first mirror from a real Kafka", command by command, with a Kafka 4.3.1 and its own tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from manual.blocks import blocks_of, commands_of
from manual.run import ROOT, matches
from tests.interop.clients.real import free_ports
from tests.interop.mirror.brokers import RealCluster

PAGE = ROOT / "docs" / "first-mirror.md"
WITH_KAFKA = "needs a Kafka, with which the tests run it"
FAILS = "; exit code 1"
WITHIN_S = 90
TOOLS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
LOGGING = """
<Configuration><Appenders><Console name="err" target="SYSTEM_ERR"/></Appenders>
<Loggers><Root level="OFF"><AppenderRef ref="err"/></Root></Loggers></Configuration>
"""


@contextmanager
def serving(*words: str) -> Iterator[None]:
    """Run `kmirror serve` until the block ends."""
    process = subprocess.Popen([sys.executable, "-m", "kmirror", "serve", *words], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"bootstrap.servers=")
        yield
    finally:
        process.terminate()
        process.communicate(timeout=WITHIN_S)


class Shell:
    """Runs the page's commands, with the ports of this test."""

    def __init__(self, folder: Path, class_path: str) -> None:
        self.folder = folder
        self.ports: dict[str, str] = {}
        """Port of the page to the port in use."""
        bin_folder = folder / "bin"
        bin_folder.mkdir(parents=True)
        (folder / "log4j2.xml").write_text(LOGGING)
        java = f"java -Xmx128m -XX:+UseSerialGC -Dlog4j2.configurationFile={folder / 'log4j2.xml'} -cp '{class_path}'"
        scripts = {name: f"{java} {main}" for name, main in TOOLS.items()} | {
            "kmirror": f"'{sys.executable}' -m kmirror"
        }
        for name, text in scripts.items():
            (bin_folder / name).write_text(f'#!/bin/sh\nexec {text} "$@"\n')
            (bin_folder / name).chmod(0o755)

    def run(self, command: str) -> tuple[int, list[str]]:
        """Return the exit code and the output, with the page's ports."""
        for told, used in self.ports.items():
            command = command.replace(told, used)
        search = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PATH": search, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        printed = done.stdout
        for told, used in self.ports.items():
            printed = printed.replace(used, told)
        return done.returncode, printed.splitlines()


HEADINGS = ("Create records at the source", "Create the mirror", "Change configs while it runs", "Failover")


def play(shell: Shell, heading: str) -> None:
    """Run the commands under a heading of the page; those that print a table repeat until it equals the page's."""
    text = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    for block in blocks_of(text):
        reason = block.reason_not_run or ""
        if not reason.startswith(WITH_KAFKA):
            continue
        for command in commands_of(block):
            deadline = time.monotonic() + WITHIN_S
            while True:
                code, printed = shell.run(command.text)
                if matches(command.expected, printed) or "--describe" not in command.text:
                    break
                assert time.monotonic() < deadline, f"{command.text}\n{printed}"
                time.sleep(0.5)
            assert matches(command.expected, printed), f"{command.text}\n{printed}"
            assert code == int(reason.endswith(FAILS)), printed


def test_the_commands_of_the_page_have_the_shown_output(tmp_path: Path, class_path_of: Callable[[str], str]) -> None:
    class_path = class_path_of("4.3.1")
    shell = Shell(tmp_path / "shell", class_path)
    ours, again = free_ports(2)
    shell.ports["9094"] = str(ours)
    with ExitStack() as stack:
        data = str(tmp_path / "mirror-data")
        stack.enter_context(serving("--port", str(ours), "--data", data, "--feature", "mirror.version=1"))
        with RealCluster("4.3.1", class_path, tmp_path / "kafka", brokers=1) as kafka:
            shell.ports["9092"] = kafka.bootstrap_servers.rpartition(":")[2]
            for heading in HEADINGS:
                play(shell, heading)
        old = tmp_path / "old-source"
        shutil.copytree(kafka.logs(1), old)
        shell.ports["9092"] = str(again)
        stack.enter_context(serving("--port", str(again), "--data", str(old), "--feature", "mirror.version=1"))
        play(shell, "Failback")
