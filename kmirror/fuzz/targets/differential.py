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
from kmirror.fuzz.differential.verdicts import Verdict, first_difference
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
        reference = KAFKA if KAFKA in verdicts else OURS
        faults = []
        for name, verdict in verdicts.items():
            if verdict.fault is not None:
                faults.append(
                    Fault(
                        verdict.fault, f"{name}: {verdict.error}", f"{name}: {verdict.error.partition(':')[0]}",
                        "an error that it documents",
                    )
                )  # fmt: skip
            elif name != reference:
                fault = difference(frame, reference, verdicts[reference], name, verdict)
                if fault is not None and reason_of(fault.cause, frame.data) is None:
                    faults.append(fault)
        if faults:
            faults[0].others = tuple(faults[1:])
            raise faults[0]
        first = verdicts[reference]
        return TAKEN if first.is_taken else first.reason

    def close(self) -> None:
        """Close the readers."""
        for reader in self.readers:
            reader.close()


def difference(frame: Frame, reference: str, expected: Verdict, name: str, verdict: Verdict) -> Fault | None:
    """Return the difference between a reader and the reference; None if they agree."""
    message_version = f"{frame.name} v{frame.version}"
    if verdict.is_taken is not expected.is_taken:
        accepts, refuses = (name, reference) if verdict.is_taken else (reference, name)
        error = (expected if verdict.is_taken else verdict).error
        reason = (expected if verdict.is_taken else verdict).reason
        field = expected.field or verdict.field
        location = f" ({field})" if field else ""
        return Fault(
            FaultKind.DIFFERS, f"{accepts} accepts, {refuses} refuses{location}: {error}",
            f"{accepts} accepts, {refuses} refuses: {reason}", f"as {reference}",
        )  # fmt: skip
    if not verdict.is_taken:
        return None
    first = first_difference(expected.value, verdict.value)
    if first is not None:
        location = f"{frame.name}{first.field}"
        if frame.message is not None:
            location = f"a {type_at(frame.message, first.field)}"
        cause = f"{reference} and {name} read {first.kinds} for {location}"
        return Fault(FaultKind.DIFFERS, first.describe(reference, name), cause, f"as {reference}")
    if None not in (expected.rewritten, verdict.rewritten) and expected.rewritten != verdict.rewritten:
        description = (
            f"{reference} writes {(expected.rewritten or b'').hex()}, {name} {(verdict.rewritten or b'').hex()}"
        )
        return Fault(
            FaultKind.DIFFERS,
            description,
            f"{reference} and {name} write {message_version} otherwise",
            f"as {reference}",
        )
    if (expected.rewritten is None) is not (verdict.rewritten is None) and {reference, name} == {KAFKA, OURS}:
        writes, not_writes = (reference, name) if expected.rewritten is not None else (name, reference)
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
        return self._stream_of_block(number).block(number)

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame broken once more."""
        return self._stream_of_block(parent.number // BLOCK_FRAMES).mutate_again(parent, random)

    def _stream_of_block(self, number: int) -> Source:
        return self.batches if number % _BATCHES_EVERY == _BATCHES_EVERY - 1 else self.messages


def open_target(options: TargetOptions) -> tuple[DifferentialTarget, Source]:
    """Return the selected readers and their frames: messages, record batches, or both.

    RecordBatch among the names of messages means batches of all formats.
    """
    chosen = [name for name in options.messages if name not in (NAME, LEGACY_NAME)]
    messages = Stream(options.seed, tuple(by_name(name) for name in chosen or names()))
    batches = BatchStream(options.seed)
    source: Source = MixedStream(messages, batches)
    if options.messages:
        source = messages if chosen else batches
        source = source if len(chosen) in (0, len(options.messages)) else MixedStream(messages, batches)
    return DifferentialTarget(open_readers(options.readers, options.kafka_jars)), source
