"""Target: our decoder, in its strict, lenient and lazy modes, and the encoder on its results.

Any bytes are a message or raise a `ProtocolError` with a byte and a field. A valid message is accepted and written back
unchanged. A broken message that is accepted is written back as bytes with the same meaning.
"""

from __future__ import annotations

from typing import cast

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.mutations import Step
from kmirror.fuzz.refusals import REASONS, claims_too_much, must_be_refused
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.memory_probe import MemoryProbe
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol import careful
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name, names
from kmirror.protocol.structs import Policy

MEMORY_FACTOR = 4
MEMORY_CONSTANT = 256 * 1_024
"""Bytes allowed for an empty message too: errors, small objects."""
_LENIENT_EVERY = 8
_LAZY_EVERY = 8
_CAREFUL_EVERY = 8
_MEMORY_EVERY = 1_024
_CLAIMS_EVERY = 8


class DecoderTarget(Stateless):
    """Our `Message.decode`.

    Every frame is read strictly; all valid ones and a sample of the others are also read leniently, lazily, with the
    slow reader or under a memory watch. Accepting a frame that every reader must refuse is a finding.
    """

    name = "decoder"

    def __init__(self) -> None:
        self._memory_probe = MemoryProbe()

    def close(self) -> None:
        """Stop the process that watches memory."""
        self._memory_probe.close()

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the field at which the frame was refused; raises `Fault`."""
        number = frame.number
        found = self._read_strictly(frame)
        if frame.is_valid:  # The first of its block, so never one of those sampled below.
            self._check_other_modes(frame, found)
        elif number % _LENIENT_EVERY == 1:
            self.check_lenient(frame, found)
        elif number % _LAZY_EVERY == 2:
            self.check_lazy(frame, found)
        elif number % _CAREFUL_EVERY == 4:
            self.check_careful(frame, found)
        elif number % _MEMORY_EVERY == 3 or (number % _CLAIMS_EVERY == 5 and claims_too_much(frame)):
            self.check_memory(frame)
        return found

    def _check_other_modes(self, frame: Frame, strict_outcome: str) -> None:
        self.check_lenient(frame, strict_outcome)
        self.check_lazy(frame, strict_outcome)
        self.check_careful(frame, strict_outcome)

    def _read_strictly(self, frame: Frame) -> str:
        data = frame.data
        try:
            found = _class(frame).decode(data, frame.version)
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid message: {error}", f"refused {error.field}", TAKEN) from None
            return refused_field(error, len(data))
        except Exception as error:
            raise fault_of_exception(error) from error
        if must_be_refused(frame):
            reason = REASONS[cast(Step, frame.steps[0]).mutation.name]
            raise Fault(FaultKind.TAKEN, f"although {reason}", reason, "refused")
        self._check_rewritten(frame, found)
        return TAKEN

    def _check_rewritten(self, frame: Frame, found: Message) -> None:
        version = frame.version
        try:
            again = found.encode(version)
        except LocalProtocolError as error:
            if frame.is_valid:
                raise Fault(
                    FaultKind.CHANGED, f"cannot be written back: {error}", "not written", "the same bytes"
                ) from None
            return  # Kafka reads some bytes that it cannot write: text that is not UTF-8.
        except Exception as error:
            raise fault_of_exception(error) from error
        if frame.is_canonical:
            if again != frame.data:
                raise Fault(FaultKind.CHANGED, f"written back as {again.hex()}", "written otherwise", "the same bytes")
            return
        try:
            rewritten = _class(frame).decode(again, version).encode(version)
        except (ProtocolError, LocalProtocolError) as error:
            description = f"the bytes that are written back cannot be read: {error}"
            raise Fault(FaultKind.CHANGED, description, "written wrongly", again.hex()) from None
        if rewritten != again:
            raise Fault(
                FaultKind.CHANGED, "written back, read and written again it differs", "no fixed point", again.hex()
            )

    def check_lenient(self, frame: Frame, strict_outcome: str) -> None:
        """Read with the lenient policy, which must accept every message that the strict one accepts."""
        try:
            _class(frame).decode(frame.data, frame.version, policy=Policy.LENIENT)
        except ProtocolError as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"leniently: {error}", f"lenient {error.field}", TAKEN) from None
            if strict_outcome == TAKEN:
                raise Fault(
                    FaultKind.DIFFERS,
                    f"strict reader: {TAKEN}, lenient reader: {error}",
                    "lenient",
                    TAKEN,
                ) from None
            refused_field(error, len(frame.data))
        except Exception as error:
            raise fault_of_exception(error) from error

    def check_lazy(self, frame: Frame, strict_outcome: str) -> None:
        """Read lazily: an error must show at once, or when the part is accessed."""
        try:
            _class(frame).decode(frame.data, frame.version, lazy=True).encode(frame.version)  # Encoding reads all.
            is_accepted = True
        except LocalProtocolError:
            is_accepted = True
        except ProtocolError:
            is_accepted = False
        except Exception as error:
            raise fault_of_exception(error) from error
        if is_accepted is not (strict_outcome == TAKEN):
            description = f"lazy reader: {'taken' if is_accepted else 'refused'}, strict reader: {strict_outcome}"
            raise Fault(FaultKind.DIFFERS, description, "lazy", "the same")

    def check_careful(self, frame: Frame, strict_outcome: str) -> None:
        """Read with the slow reader, which walks the field tables; it must return the same message."""
        cls = _class(frame)
        found: Message | None = None
        try:
            found = careful.decode(cls, frame.data, frame.version)[0]
        except ProtocolError as error:
            refused_field(error, len(frame.data))
        except Exception as error:
            raise fault_of_exception(error) from error
        if (found is not None) is not (strict_outcome == TAKEN):
            description = f"slow reader: {'refused' if found is None else 'taken'}, fast reader: {strict_outcome}"
            raise Fault(FaultKind.DIFFERS, description, "careful", "the same")
        if found is not None and not _is_same(found, cls.decode(frame.data, frame.version), frame.version):
            raise Fault(FaultKind.DIFFERS, f"the slow reader returns {found}", "careful contents", "the same message")

    def check_memory(self, frame: Frame) -> None:
        """Read under a watch: memory must stay below four times the frame, plus a constant."""
        peak = self._memory_probe.peak_bytes(_class(frame), frame.version, frame.data)
        limit = MEMORY_FACTOR * len(frame.data) + MEMORY_CONSTANT
        if peak is None or peak > limit:
            peak_text = f"{peak} bytes" if peak is not None else "the end of the process that read it"
            raise Fault(
                FaultKind.MEMORY, f"{peak_text} for a frame of {len(frame.data)}", "memory", f"at most {limit} bytes"
            )


def _class(frame: Frame) -> type[Message]:
    assert frame.message is not None, f"{frame.name} is no message"
    return frame.message


def _is_same(one: Message, other: Message, version: int) -> bool:
    if one == other:
        return True
    try:
        return one.encode(version) == other.encode(version)  # NaN does not equal itself.
    except LocalProtocolError:
        return repr(one) == repr(other)  # Text that is not UTF-8 can be read, but not written.


def refused_field(error: ProtocolError, size: int) -> str:
    """Return the field at which a frame of `size` bytes was refused; raises `Fault` if no field or byte is given."""
    if not error.field or error.position is None or not 0 <= error.position <= size:
        description = f"an error without a field, or at byte {error.position} of {size}: {error}"
        raise Fault(
            FaultKind.RAISED, description, "no field or byte", "a field's path, and a byte of the frame"
        ) from None
    # "topics[3].name" and "topics[4].name" are refused for the same reason.
    return error.field.replace("[0]", "[]").replace("[1]", "[]").replace("[2]", "[]")


def open_target(options: TargetOptions) -> tuple[DecoderTarget, Stream]:
    """Return the target, and the bodies of the selected messages, or of all."""
    messages = tuple(by_name(name) for name in options.messages or names())
    return DecoderTarget(), Stream(options.seed, messages)
