"""Target: several readers of the same bytes; a difference without a known reason is a finding.

Each reader is compared with a reference: Kafka's own reader if available, otherwise ours. A reader may raise only
errors that it documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmirror.fuzz.batches import LEGACY_NAME, NAME, BatchStream
from kmirror.fuzz.differential.readers import KAFKA, OURS, Reader, open_readers
from kmirror.fuzz.differential.reasons import reason_of
from kmirror.fuzz.differential.verdicts import Verdict, parting
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame, Source, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol.json_form import json_name
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name, names
from kmirror.protocol.structs import Field

_BATCHES_EVERY = 8


class DifferentialTarget(Stateless):
    """Readers that should agree."""

    name = "differential"

    def __init__(self, readers: Sequence[Reader]) -> None:
        self.readers = list(readers)

    def judge(self, frame: Frame) -> str:
        """Return the outcome of the reference in stable words; raises `Fault` with all differences."""
        found = [(reader.name, reader.read(frame)) for reader in self.readers]
        verdicts = {name: verdict for name, verdict in found if verdict is not None}
        by = KAFKA if KAFKA in verdicts else OURS
        faults = []
        for name, verdict in verdicts.items():
            if verdict.fault is not None:
                faults.append(
                    Fault(
                        verdict.fault, f"{name}: {verdict.error}", f"{name}: {verdict.error.partition(':')[0]}",
                        "an error that it documents",
                    )
                )  # fmt: skip
            elif name != by:
                fault = difference(frame, by, verdicts[by], name, verdict)
                if fault is not None and reason_of(fault.cause, frame.data) is None:
                    faults.append(fault)
        if faults:
            faults[0].others = tuple(faults[1:])
            raise faults[0]
        first = verdicts[by]
        return TAKEN if first.is_taken else first.reason

    def close(self) -> None:
        """Close the readers."""
        for reader in self.readers:
            reader.close()


def difference(frame: Frame, by: str, right: Verdict, name: str, verdict: Verdict) -> Fault | None:
    """Return the difference between a reader and the reference `by`; None if they agree."""
    place = f"{frame.name} v{frame.version}"
    if verdict.is_taken is not right.is_taken:
        takes, refuses = (name, by) if verdict.is_taken else (by, name)
        error = (right if verdict.is_taken else verdict).error
        reason = (right if verdict.is_taken else verdict).reason
        field = right.field or verdict.field
        where = f" ({field})" if field else ""
        return Fault(
            FaultKind.DIFFERS, f"{takes} accepts, {refuses} refuses{where}: {error}",
            f"{takes} accepts, {refuses} refuses: {reason}", f"as {by}",
        )  # fmt: skip
    if not verdict.is_taken:
        return None
    parts = parting(right.value, verdict.value)
    if parts is not None:
        where = f"{frame.name}{parts.field}"
        if frame.message is not None:
            where = f"a {type_at(frame.message, parts.field)}"
        cause = f"{by} and {name} read {parts.kinds} for {where}"
        return Fault(FaultKind.DIFFERS, parts.told(by, name), cause, f"as {by}")
    if None not in (right.again, verdict.again) and right.again != verdict.again:
        told = f"{by} writes {(right.again or b'').hex()}, {name} {(verdict.again or b'').hex()}"
        return Fault(FaultKind.DIFFERS, told, f"{by} and {name} write {place} otherwise", f"as {by}")
    if (right.again is None) is not (verdict.again is None) and {by, name} == {KAFKA, OURS}:
        writes, not_writes = (by, name) if right.again is not None else (name, by)
        return Fault(
            FaultKind.DIFFERS,
            f"{writes} writes the value that it read, {not_writes} does not",
            f"{not_writes} does not write",
            "",
        )
    return None


def type_at(message: type[Message], path: str) -> str:
    """Return the schema's type of the field at a path of JSON names, such as `topics.name`."""
    fields: Sequence[Field] = message.FIELDS
    found = "field of no schema" if path else "message"
    for name in path.split("."):
        field = next((each for each in fields if json_name(each.name) == name), None)
        if field is None:
            return found
        tagged = "tagged " if field.tag >= 0 else ""
        found = f"{tagged}{'array of ' if field.is_array else ''}{field.type}"
        fields = field.struct.FIELDS if field.struct is not None else ()
    return found


@dataclass(frozen=True)
class MixedStream:
    """The frames of a seed: messages, and every eighth block record batches."""

    messages: Stream
    batches: BatchStream

    @property
    def seed(self) -> int:
        """Return the seed that both have."""
        return self.messages.seed

    def block(self, number: int) -> list[Frame]:
        """Return the frames of a block."""
        return self._of_block(number).block(number)

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame broken once more."""
        return self._of_block(parent.number // BLOCK_FRAMES).mutate_again(parent, random)

    def _of_block(self, number: int) -> Source:
        return self.batches if number % _BATCHES_EVERY == _BATCHES_EVERY - 1 else self.messages


def open_target(wanted: TargetOptions) -> tuple[DifferentialTarget, Source]:
    """Return the wanted readers and their frames: messages, record batches, or both.

    RecordBatch among the names of messages means batches of all formats.
    """
    chosen = [name for name in wanted.messages if name not in (NAME, LEGACY_NAME)]
    messages = Stream(wanted.seed, tuple(by_name(name) for name in chosen or names()))
    batches = BatchStream(wanted.seed)
    source: Source = MixedStream(messages, batches)
    if wanted.messages:
        source = messages if chosen else batches
        source = source if len(chosen) in (0, len(wanted.messages)) else MixedStream(messages, batches)
    return DifferentialTarget(open_readers(wanted.readers, wanted.kafka_jars)), source
