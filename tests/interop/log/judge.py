"""A JVM with Kafka's dump tool, broker and clients, which reads commands line by line; Judge.java is its other half."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kmirror.kernel.ids import TopicPartition
from tests.interop.clients.real import free_ports
from tests.interop.jvm import java
from tests.interop.log.cluster import NODE_ID

HERE = Path(__file__).parent
ANSWER_SECONDS = 150  # Above the 120 seconds after which a client of Kafka gives up and gives the reason.
# Each line of the broker's own log has its level and its logger; levels below WARN are not written.
LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.file.ref = FILE
appender.file.type = File
appender.file.name = FILE
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c %m%n
"""


class ToolResult(NamedTuple):
    """Exit code of a tool, and its output."""

    status: int
    out: str
    err: str


class Judge:
    def __init__(self, class_path: str, folder: Path) -> None:
        self._log = folder / "kafka.log"
        (folder / "log4j2.properties").write_text(LOGGING.format(path=self._log))
        self._errors = (folder / "stderr").open("wb")
        logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
        self._process = subprocess.Popen(
            java(class_path, HERE / "Judge.java", "-Xmx512m", logging),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
        )
        self._partitions: list[TopicPartition] = []

    def close(self) -> None:
        """Kill the JVM."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            pipe.close()

    def ask(self, what: str, **details: Any) -> Any:
        """Return the response; AssertionError if the JVM refused, died, or did not respond in time."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        assert self._process.poll() is None, "the JVM died of an earlier question"
        stdin.write(json.dumps({"do": what, **details}).encode() + b"\n")
        deadline = time.monotonic() + ANSWER_SECONDS
        line = bytearray()
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no answer to {what} in {ANSWER_SECONDS} s: {self._end()}"
            data = os.read(stdout.fileno(), 1 << 20)
            assert data, f"the JVM died of {what}: {self._last_words()}"
            line += data
        answer = json.loads(line)
        assert "error" not in answer, f"{what}: {answer['error']}: {self._last_words()}"
        return answer["answer"]

    def _end(self) -> str:
        """Kill the JVM, as a later request would get this response; return the stacks of its threads."""
        assert self._process.stdout is not None
        self._process.send_signal(signal.SIGQUIT)  # It prints all stacks.
        stacks = b""
        while select.select([self._process.stdout], [], [], 3)[0] and len(stacks) < 1 << 20:
            stacks += os.read(self._process.stdout.fileno(), 1 << 16)
        self._process.kill()
        return f"{self._last_words()}\n{stacks.decode(errors='replace')}"

    def _last_words(self) -> str:
        texts = (path.read_text("utf-8", "replace") for path in (self._log, Path(self._errors.name)) if path.exists())
        return "\n".join(text[-3000:] for text in texts)

    def dump(self, *arguments: str) -> str:
        """Return the output of kafka-dump-log."""
        ended = self.run_dump(arguments)
        assert ended.status == 0, ended.err
        return ended.out

    def run_dump(self, arguments: Sequence[str]) -> ToolResult:
        """Run kafka-dump-log."""
        return ToolResult(**self.ask("dump", arguments=arguments))

    def start(self, folder: Path, partitions: Sequence[TopicPartition], **configs: str) -> str:
        """Start a broker on the folder; it leads `partitions`. Return its address for clients."""
        self._log.write_bytes(b"")
        self._partitions = list(partitions)
        config = {**_properties(folder, "controller.quorum.voters", f"{NODE_ID}@"), **configs}
        self.ask("start", config=config)
        return _address(config)

    def start_formatted(self, folder: Path, cluster_id: str = "", **configs: str) -> str:
        """Start a broker on a folder that names its controller; format it for `cluster_id`, if given.

        Return its address for clients.
        """
        self._log.write_bytes(b"")
        config = {**_properties(folder, "controller.quorum.bootstrap.servers", ""), **configs}
        if cluster_id:
            assert self.ask("format", config=config, cluster=cluster_id) == 0
        self.ask("start", config=config)
        return _address(config)

    def stop(self) -> list[str]:
        """Shut the broker down cleanly by its controller; return its warnings."""
        self.ask("stop")
        return self._log.read_text().splitlines()

    def about(self, what: str, **details: Any) -> Any:
        """Send a request about every partition that the broker was started with; return a JSON object by partition."""
        return self.ask(what, partitions=[(tp.topic, tp.partition) for tp in self._partitions], **details)


def _address(config: dict[str, str]) -> str:
    return config["listeners"].split(",")[0].removeprefix("PLAINTEXT://")


def _properties(folder: Path, quorum: str, before: str) -> dict[str, str]:
    """Return the properties of a broker and controller; `quorum` is the key of the controller's address."""
    broker, controller = free_ports(2)
    return {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        quorum: f"{before}127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}",
        "log.dirs": str(folder),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "log.cleaner.dedupe.buffer.size": str(4 << 20),
        "log.initial.task.delay.ms": str(3_600_000),  # Nothing is cleaned or deleted during the test.
    }
