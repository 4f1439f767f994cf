"""`Journals`: wraps the nodes of a cluster, and records their events and effects.

    cluster = TcpCluster(interpose=Journals(lambda name: open_file(name).write))

Each start of a node begins a journal with all data needed to create the node again: its options, the seed of its
randomness, and the contents of its disk. The journal of a node with a large log therefore begins with a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from kmirror.assembly.journal.entries import CALL, DISK, NODE, encode_entry, file_header
from kmirror.assembly.journal.events import effect_value, event_value
from kmirror.assembly.journal.values import encode
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.errors import UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, Node, Note
from kmirror.kernel.wrapping import Wrapper
from kmirror.log.disk import Disk
from kmirror.log.state_files import BOOTSTRAP
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.spec.topics import METADATA_TOPIC

Write = Callable[[bytes], object]
"""Writes the next bytes of a journal; raises OSError if it cannot."""
DISK_FILES = (BOOTSTRAP,)
"""The files outside of partitions that a node reads, except the clean shutdown file."""
PIECE_BYTES = 4 << 20
DIGEST_BYTES = 8
CONTROLLER_ID_IN_BROKER = -1
"""The id of the controller in a broker's journal."""
NO_EFFECTS = bytes(DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class JournalEnded:
    """The fact of the note after a failed journal write; the node continues without its journal."""

    process: str
    error: OSError


class Journals:
    """A function for `interpose`; it calls `open_journal` with the name of a process at each start of the process."""

    def __init__(self, open_journal: Callable[[str], Write]) -> None:
        self._open = open_journal

    def __call__(self, name: str, node: Node) -> Node:
        """Return a node that records the events and effects of `node`, which must be new and not wrapped."""
        if not isinstance(node, Broker | Controller):
            raise UsageError("wrap the node in the journal first, then in hooks: hooks(name, journals(...))")
        return Recorder(name, node, self._open(name))


class Recorder(Wrapper):
    """A node and its journal."""

    def __init__(self, name: str, inner: Broker | Controller, write: Write) -> None:
        super().__init__(inner)
        self._name = name
        self._write: Write | None = write
        self._digest = NO_EFFECTS
        self._problem: OSError | None = None
        """The error that ended the journal, until it is reported."""
        node_value = _node_value(name, inner)
        self._put(file_header() + encode_entry(NODE, node_value))
        for piece in _pieces(inner):
            self._put(encode_entry(DISK, piece))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of the inner node, and record them; an exception is recorded too."""
        try:
            effects = self.inner.handle(now, event)
        except Exception as error:
            self._record(now, event, (("raised", repr(error)),))
            raise
        self._record(now, event, tuple(map(effect_value, effects)))
        problem, self._problem = self._problem, None
        if problem is None:
            return effects
        return [
            *effects,
            Note(f"the journal was closed after a write error: {problem}", JournalEnded(self._name, problem)),
        ]

    def _record(self, now: Instant, event: Event, effects: tuple[Any, ...]) -> None:
        if self._write is not None:
            encoded = encode(effects)
            self._digest = next_digest(self._digest, encoded)
            self._put(encode_entry(CALL, (now, event_value(event), encoded, self._digest)))

    def _put(self, data: bytes) -> None:
        if self._write is None:
            return
        try:
            self._write(data)
        except OSError as error:
            self._write, self._problem = None, error


def next_digest(before: bytes, effects: bytes) -> bytes:
    """Return the digest of all effects so far, from the previous digest and the effects of the newest call."""
    return blake2b(before + effects, digest_size=DIGEST_BYTES).digest()


def _node_value(name: str, node: Broker | Controller) -> tuple[Any, ...]:
    """Return the value from which a node can be created."""
    options = node.context.options if isinstance(node, Broker) else node.options
    if options.authorizer is not None:
        raise UsageError("a journal cannot contain an authorizer: use only one of them")
    return (
        name,
        options.node_id,
        options.cluster_id,
        tuple((each.name, int(each.protocol), *each[2:]) for each in options.listeners),
        (CONTROLLER_ID_IN_BROKER, node.context.options.controllers.leader) if isinstance(node, Broker) else None,
        tuple(sorted(options.configs.items())),
        () if isinstance(node, Broker) else tuple(map(_record_value, node.options.bootstrap)),
        options.on_failure.name,
        node.context.rng.seed,
        tuple(_directory_value(node, name) for name in node.context.log_dirs.names)
        if isinstance(node, Broker)
        else ((node.disk.log_dir, bytes(node.disk.directory_id), None, ()),),
    )


def _directory_value(node: Broker, name: str) -> tuple[Any, ...]:
    """Return id, last clean shutdown, and leftovers to purge of a broker's log directory.

    For an offline directory, return its name and the reason.
    """
    log_dirs = node.context.log_dirs
    disk = next((disk for disk in log_dirs.online if disk.log_dir == name), None)
    if disk is None:
        return name, log_dirs.offline[name]
    return name, bytes(disk.directory_id), node.context.clean_epochs.get(name), tuple(disk.leftovers())


def _record_value(record: Message) -> bytes:
    return encode_metadata_record(record, record.MAX_VERSION)


def _pieces(node: Broker | Controller) -> Iterator[tuple[Any, ...]]:
    """Yield the contents of a node's log directories, each piece after the directory's name.

    A piece is (partition, base offset, modification time in ms, bytes) of a segment, (partition, name, bytes) of
    another file of a partition, or (None, name, bytes) of a file outside of partitions. The clean shutdown file is
    deleted by now.
    """
    for disk in node.context.log_dirs.online if isinstance(node, Broker) else [node.disk]:
        for piece in _pieces_of(disk, is_controller=isinstance(node, Controller)):
            yield disk.log_dir, *piece


def _pieces_of(disk: Disk, *, is_controller: bool) -> Iterator[tuple[Any, ...]]:
    for name in DISK_FILES:
        data = disk.read_file(name)
        if data is not None:
            yield None, name, data
    for tp in disk.partitions():
        if is_controller and tp.topic != METADATA_TOPIC:
            continue  # A broker's partitions in a shared folder.
        store = disk.open(tp)
        for base_offset in store.segments():
            size = store.size(base_offset)
            for start in range(0, max(size, 1), PIECE_BYTES):
                data = bytes(store.view(base_offset, start, min(size, start + PIECE_BYTES)))
                yield tp, base_offset, store.modified_ms(base_offset), data
        for name in store.files():
            yield tp, name, store.read_file(name)
