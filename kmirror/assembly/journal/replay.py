"""Replay of a journal: create its node again, give it the same events, and compare the effects.

A disk job runs when the journal records its end, on an in-memory disk; where the disk failed, the job fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kmirror.assembly.journal.entries import CALL, DISK, NODE, Torn, read_entries
from kmirror.assembly.journal.events import effect_value, error_of, event_of, event_value, format_value
from kmirror.assembly.journal.recorder import NO_EFFECTS, next_digest
from kmirror.assembly.journal.values import decode, encode
from kmirror.assembly.nodes import Assembly
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.node import clean_shutdown
from kmirror.errors import KmirrorError, ProtocolError
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import CancelTimer, DiskDone, DiskWork, Effect, Event, SetTimer, TimerFired, TimerKey
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.listeners import CONTROLLER_NAME, ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk, MemoryDisk, OfflineLogDir
from kmirror.log.memory_store import MemoryStore
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.spec.wire_values import SecurityProtocol

SHOWN_MAX = 10
"""Maximum number of effects on each side in the text of a difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first call with different effects."""

    number: int
    """The number of the call, starting at 1."""
    at_ms: int
    """The time of the call, in ms since 1970."""
    event: str
    recorded: tuple[str, ...]
    """The effects in the journal, as text."""
    replayed: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"call {self.number} at {self.at_ms} ms: {self.event}"]
        common = 0
        for item, other in zip(self.recorded, self.replayed, strict=False):
            if item != other:
                break
            common += 1
        if common:
            lines.append(f"  the first {common} effects match")
        for name, effects in (("recorded", self.recorded[common:]), ("replayed", self.replayed[common:])):
            lines += [f"  {name}: {text}" for text in effects[:SHOWN_MAX] or ("no more effects",)]
            if len(effects) > SHOWN_MAX:
                lines.append(f"  {name}: and {len(effects) - SHOWN_MAX} more")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay."""

    process: str
    """The name of the process that wrote the journal."""
    calls: int
    """The number of `handle` calls made."""
    digest: str
    """The digest of all effects, in hex."""
    difference: Difference | None
    torn: Torn | None

    @property
    def is_equal(self) -> bool:
        """Whether the node did the same to the end of the journal; False if no call was compared."""
        return self.difference is None and self.calls > 0


def replay(data: bytes | memoryview) -> Replay:
    """Create the node of a journal again, pass the recorded events to it, and compare its effects.

    UsageError if this is not a journal of this version, ProtocolError if it is damaged.
    """
    node_value: tuple[Any, ...] | None = None
    node: _ReplayedNode | None = None
    pieces: dict[str, _DiskContents] = {}
    torn = difference = None
    calls, digest = 0, NO_EFFECTS
    for item in read_entries(data):
        if isinstance(item, Torn):
            torn = item
            break
        kind, value = item
        if (kind == NODE) != (node_value is None) or (kind == DISK and node is not None):
            raise ProtocolError(f"misplaced entry of kind {kind} after {calls} calls in a journal")
        if kind == NODE:
            node_value = value
        elif kind == DISK:
            log_dir, *piece = value
            pieces.setdefault(log_dir, _DiskContents()).add(*piece)
        elif kind == CALL and node_value is not None:
            node = node or _ReplayedNode(_node(node_value, pieces))
            calls += 1
            now, event, recorded, recorded_digest = value
            replayed = encode(node.handle(now, event))
            digest = next_digest(digest, replayed)
            if replayed != recorded or digest != recorded_digest:
                texts = tuple(map(format_value, decode(recorded))), tuple(map(format_value, decode(replayed)))
                difference = Difference(calls, to_ms(now), format_value(event), *texts)
                break
    return Replay("" if node_value is None else node_value[0], calls, digest.hex(), difference, torn)


class _ReplayedNode:
    """A node that receives recorded events."""

    def __init__(self, node: Broker | Controller) -> None:
        self._node = node
        self._jobs: dict[bytes, DiskWork] = {}
        """Running disk jobs by the encoded bytes of their keys, as keys cannot be decoded from a journal."""
        self._timers: dict[bytes, TimerKey] = {}
        """Timers that are set, by the encoded bytes of their keys."""

    def handle(self, now: Instant, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the node's effects or its exception, as a value of the journal."""
        try:
            event = self._event(value)
        except _ReplayMismatch as end:
            return (("cannot receive that event", str(end)),)
        try:
            effects: list[Effect] = self._node.handle(now, event)
        except Exception as error:
            return (("raised", repr(error)),)
        for effect in effects:
            match effect:
                case DiskWork(key):
                    self._jobs[encode(key)] = effect
                case SetTimer(timer):
                    self._timers[encode(timer)] = timer
                case CancelTimer(timer):
                    self._timers.pop(encode(timer), None)
        return tuple(map(effect_value, effects))

    def _event(self, value: tuple[Any, ...]) -> Event:
        if value[0] == "TimerFired":
            timer = self._timers.pop(encode(value[1]), None)
            if timer is None:
                raise _ReplayMismatch(f"no timer {value[1]!r} is set")
            return TimerFired(timer)
        if value[0] != "DiskDone":
            return event_of(value)
        _, key, kind, error = value
        work = self._jobs.pop(encode(key), None)
        if work is None:
            raise _ReplayMismatch(f"no disk work {key!r} is in progress")
        key = work.key
        if error is not None:
            return DiskDone(key, None, error_of(error))
        try:
            done = DiskDone(key, work.job.run())
        except (OSError, KmirrorError) as failure:
            raise _ReplayMismatch(f"{type(work.job).__name__} failed: {failure!r}") from failure
        if event_value(done)[2] != kind:
            raise _ReplayMismatch(f"{type(work.job).__name__} returned {done.result!r} instead of a {kind}")
        return done


class _ReplayMismatch(Exception):
    """A timer or disk job of the node ended differently than in the journal."""


class _Store(MemoryStore):
    """A store that returns the recorded modification times of its segments."""

    __slots__ = ("modified",)
    modified: dict[int, int]

    def modified_ms(self, base_offset: int) -> int | None:
        return self.modified.get(base_offset)


class _Disk(MemoryDisk):
    """A disk that returns the recorded leftovers of the previous process."""

    recorded_leftovers: list[str]

    def leftovers(self) -> list[str]:
        return list(self.recorded_leftovers)


class _DiskContents:
    """The contents of a disk, collected piece by piece."""

    def __init__(self) -> None:
        self._segments: dict[TopicPartition, dict[int, bytearray]] = {}
        self._modified: dict[TopicPartition, dict[int, int]] = {}
        self._files: dict[TopicPartition, dict[str, bytes]] = {}
        self._other_files: dict[str, bytes] = {}

    def add(self, tp: TopicPartition | None, name: Any, *rest: Any) -> None:
        if tp is None:
            self._other_files[name] = rest[0]
            return
        segments, files = self._segments.setdefault(tp, {}), self._files.setdefault(tp, {})
        if isinstance(name, str):
            files[name] = rest[0]
            return
        modified, data = rest
        segments.setdefault(name, bytearray()).extend(data)
        if modified is not None:
            self._modified.setdefault(tp, {})[name] = modified

    def write_to(self, disk: _Disk) -> None:
        """Write the contents to a disk."""
        for name, data in self._other_files.items():
            disk.write_file(name, data)
        for tp, segments in self._segments.items():
            store = _Store.from_files({base: bytes(data) for base, data in segments.items()}, self._files[tp])
            assert isinstance(store, _Store), "made by its class method"
            store.modified = self._modified.get(tp, {})
            disk.put(tp, store)


def _disk(node_value: tuple[Any, ...], pieces: Mapping[str, _DiskContents]) -> Disk | OfflineLogDir:
    """Return one log directory of a journal's node."""
    if len(node_value) == 2:
        return OfflineLogDir(*node_value)
    log_dir, directory_id, clean_epoch, recorded_leftovers = node_value
    disk = _Disk(log_dir, Uuid(directory_id))
    disk.recorded_leftovers = list(recorded_leftovers)
    if log_dir in pieces:
        pieces[log_dir].write_to(disk)
    if clean_epoch is not None:
        clean_shutdown.write(disk, clean_epoch)
    return disk


def _node(node_value: tuple[Any, ...], pieces: Mapping[str, _DiskContents]) -> Broker | Controller:
    """Return the node of a journal's first entry, before its first event."""
    _, node_id, cluster_id, listeners, controller, configs, bootstrap, on_failure, seed, directories = node_value
    disks = [_disk(each, pieces) for each in directories]
    own_listeners = tuple(ListenerSpec(name, SecurityProtocol(protocol), *at) for name, protocol, *at in listeners)
    controller_listeners = (
        {} if controller is None else {controller[0]: (ListenerSpec.plain(controller[1], CONTROLLER_NAME),)}
    )
    assembly = Assembly(
        cluster_id=cluster_id,
        controller_id=node_id if controller is None else controller[0],
        listeners={**controller_listeners, node_id: own_listeners},
        configs=dict(configs),
        bootstrap=[decode_metadata_record(record)[0] for record in bootstrap],
        on_failure=OnFailure[on_failure],
    )
    return assembly.node(node_id, disks, Rng(seed))
