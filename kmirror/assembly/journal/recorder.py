"""`Journals`: put around the nodes of a cluster, writes down what each was given and what came of it.

    cluster = TcpCluster(interpose=Journals(lambda name: open_file(name).write))

Each start of a node begins a journal, which holds all that it takes to make the node anew: its options, the seed of its
randomness, and what its disk held. So the journal of a node over a large log begins with a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from kmirror.assembly.journal.entries import CALL, DISK, NODE, beginning, entry
from kmirror.assembly.journal.events import event_value, said
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
"""Takes the next bytes of a journal; OSError if it cannot."""
DISK_FILES = (BOOTSTRAP,)
"""The files of no partition that a node reads, but for the note of a clean shutdown."""
PIECE_BYTES = 4 << 20
DIGEST_BYTES = 8
ANOTHER = -1
"""The id under which a broker's journal has the controller."""
NO_EFFECTS = bytes(DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class JournalEnded:
    """The fact that goes with the note of a journal that could not be written any further; the node goes on."""

    process: str
    error: OSError


class Journals:
    """A function for `interpose`; `open_journal` is called with the name of a process at each of its starts."""

    def __init__(self, open_journal: Callable[[str], Write]) -> None:
        self._open = open_journal

    def __call__(self, name: str, node: Node) -> Node:
        """Return a node that writes down what happens to `node`, which was just made and is inside no other wrapper."""
        if not isinstance(node, Broker | Controller):
            raise UsageError(
                "a journal goes around the node itself, and hooks around the journal: hooks(name, journals(...))"
            )
        return Recorder(name, node, self._open(name))


class Recorder(Wrapper):
    """A node, and its journal."""

    def __init__(self, name: str, inner: Broker | Controller, write: Write) -> None:
        super().__init__(inner)
        self._name = name
        self._write: Write | None = write
        self._digest = NO_EFFECTS
        self._problem: OSError | None = None
        """Why nothing is written any more, until that is told."""
        made = _node_value(name, inner)
        self._put(beginning() + entry(NODE, made))
        for piece in _pieces(inner):
            self._put(entry(DISK, piece))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of the node inside, written down; an exception is written down too."""
        try:
            effects = self.inner.handle(now, event)
        except Exception as error:
            self._record(now, event, (("raised", repr(error)),))
            raise
        self._record(now, event, tuple(map(said, effects)))
        problem, self._problem = self._problem, None
        if problem is None:
            return effects
        return [*effects, Note(f"the journal ends here: {problem}", JournalEnded(self._name, problem))]

    def _record(self, now: Instant, event: Event, effects: tuple[Any, ...]) -> None:
        if self._write is not None:
            encoded = encode(effects)
            self._digest = next_digest(self._digest, encoded)
            self._put(entry(CALL, (now, event_value(event), encoded, self._digest)))

    def _put(self, data: bytes) -> None:
        if self._write is None:
            return
        try:
            self._write(data)
        except OSError as error:
            self._write, self._problem = None, error


def next_digest(before: bytes, effects: bytes) -> bytes:
    """Return the digest of all effects so far from that before the newest call, and the effects of that call."""
    return blake2b(before + effects, digest_size=DIGEST_BYTES).digest()


def _node_value(name: str, node: Broker | Controller) -> tuple[Any, ...]:
    """Return what a node is made of."""
    options = node.context.options if isinstance(node, Broker) else node.options
    if options.authorizer is not None:
        raise UsageError("a journal cannot hold an authorizer: leave one of them out")
    return (
        name,
        options.node_id,
        options.cluster_id,
        tuple((each.name, int(each.protocol), *each[2:]) for each in options.listeners),
        (ANOTHER, node.context.options.controllers.leader) if isinstance(node, Broker) else None,
        tuple(sorted(options.configs.items())),
        () if isinstance(node, Broker) else tuple(map(_record_value, node.options.bootstrap)),
        options.on_failure.name,
        node.context.rng.seed,
        tuple(_directory_value(node, name) for name in node.context.log_dirs.names)
        if isinstance(node, Broker)
        else ((node.disk.log_dir, bytes(node.disk.directory_id), None, ()),),
    )


def _directory_value(node: Broker, name: str) -> tuple[Any, ...]:
    """Return what a log directory of a broker is known by, how its last process ended, and what is to be purged there.

    Of one that is offline the name and the reason.
    """
    log_dirs = node.context.log_dirs
    disk = next((disk for disk in log_dirs.online if disk.log_dir == name), None)
    if disk is None:
        return name, log_dirs.offline[name]
    return name, bytes(disk.directory_id), node.context.ended_cleanly.get(name), tuple(disk.leftovers())


def _record_value(record: Message) -> bytes:
    return encode_metadata_record(record, record.MAX_VERSION)


def _pieces(node: Broker | Controller) -> Iterator[tuple[Any, ...]]:
    """Yield what the log directories of a node hold, as far as it may look at it, each piece behind the directory.

    Of a segment (partition, base offset, when it was written, bytes), of a partition's file (partition, name, bytes),
    and of one that is no partition's (None, name, bytes). The note of a clean shutdown is gone by now.
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
            continue  # It shares the folder with a broker.
        store = disk.open(tp)
        for base_offset in store.segments():
            size = store.size(base_offset)
            for start in range(0, max(size, 1), PIECE_BYTES):
                data = bytes(store.view(base_offset, start, min(size, start + PIECE_BYTES)))
                yield tp, base_offset, store.modified_ms(base_offset), data
        for name in store.files():
            yield tp, name, store.read_file(name)
