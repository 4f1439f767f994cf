"""Simulated network: ordered links, seeded delays and lines that can be down; between sites also bandwidth and loss.

A link belongs to the node that opened it and to one channel. Frames on a link arrive in the order in which they were
sent, each after a delay drawn for it. A line that is down loses all data sent over it without notice, like a firewall.
A node that ends closes its links, and the other end is notified.

Between two sites there is one line in each direction, which all links share:
- bandwidth: frames leave one after the other, each taking its size divided by the line's rate;
- loss: links behave like TCP, so a lost packet costs time but no data: it delays its frame, and the frames after it
  on that link, by a retransmission;
- reordering: a frame is delayed, so that frames of other links overtake it.

During a run, the line between any two sites or nodes may be taken down (in one or both directions), given other
properties, or be disturbed in addition. A line that was not changed draws the same random numbers as in a run without
changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import NamedTuple, TypeVar

from kmirror.kernel.arguments import milliseconds, whole_number
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import InboundLink, OutboundLink
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.runner_metrics import LinkCounts

MILLION = 1_000_000
BYTES_PER_KILOBIT = 125
PORT_MIN = 32768
PORTS = 28232
PACKET_BYTES = 1460
RETRANSMIT_MIN: Duration = 200 * MILLISECOND
"""Minimum retransmission timeout in Linux; the loss of a packet with others behind it is noticed after a round trip."""
DOUBLINGS_MAX = 6
P = TypeVar("P", int, float)


class Passing(Enum):
    """Stage of a frame on its way, as reported to watchers of frames."""

    REQUEST = "a request arrives"
    SENT = "an answer is sent"
    LOST = "an answer is sent over a line that is down"
    TOO_LATE = "an answer arrives at a link that is closed"
    RECEIVED = "an answer arrives"


LinkKey = tuple[str, OutboundLink]
"""(node that opened the link, name of the link at that node)"""


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """One-way delays in microseconds, inclusive bounds; the other options apply to lines between sites.

    Probabilities are in parts per million: of losing a packet, and of delaying a frame.
    """

    local_min_us: Duration = MILLISECOND // 10
    local_max_us: Duration = MILLISECOND
    remote_min_us: Duration = 20 * MILLISECOND
    remote_max_us: Duration = 30 * MILLISECOND
    bytes_per_second: int = 0
    """Bandwidth of a line in each direction; 0 for no limit."""
    loss_ppm: int = 0
    reorder_ppm: int = 0
    reorder_max_us: Duration = 50 * MILLISECOND

    def __post_init__(self) -> None:
        """Raise UsageError for a value out of range, and for a minimum delay above the maximum."""
        for each in fields(self):
            most = MILLION if each.name.endswith("_ppm") else None
            whole_number(each.name, getattr(self, each.name), 0, most)
        whole_number("local_max_us", self.local_max_us, self.local_min_us)
        whole_number("remote_max_us", self.remote_max_us, self.remote_min_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSettings:
    """Settings of a line between two sites or nodes, in one direction; None leaves a property unset."""

    latency_ms: float | None = None
    """One-way delay of a frame."""
    jitter_ms: float | None = None
    """Maximum deviation from the latency in either direction; a delay is never negative."""
    bandwidth_kbps: int | None = None
    """Kilobits per second, shared by all links on the line; 0 for no limit."""
    loss_ppm: int | None = None
    """Lost packets per million; TCP sends them again."""
    reorder_ppm: int | None = None
    """Delayed frames per million, so that frames of other links overtake them."""

    def __post_init__(self) -> None:
        for name, value in self.given().items():
            if name in ("latency_ms", "jitter_ms"):
                milliseconds(name, value)
            else:
                whole_number(name, value, 0, MILLION if name.endswith("_ppm") else None)

    def given(self) -> dict[str, float]:
        """Return the properties that are set, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def changed(self, others: LineSettings) -> LineSettings:
        """Return these settings, overridden by those that are set in `others`."""

        def newest(old: P | None, new: P | None) -> P | None:
            return old if new is None else new

        return LineSettings(
            latency_ms=newest(self.latency_ms, others.latency_ms),
            jitter_ms=newest(self.jitter_ms, others.jitter_ms),
            bandwidth_kbps=newest(self.bandwidth_kbps, others.bandwidth_kbps),
            loss_ppm=newest(self.loss_ppm, others.loss_ppm),
            reorder_ppm=newest(self.reorder_ppm, others.reorder_ppm),
        )

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.given().items()) or "as it was built"


@dataclass(frozen=True, slots=True)
class _Quality:
    """Effective properties for frames between two nodes."""

    min_us: Duration
    max_us: Duration
    bytes_per_second: int = 0
    loss_ppm: int = 0
    reorder_ppm: int = 0
    shared_line: tuple[str, str] = ("", "")
    """Ends of the line whose bandwidth is shared."""

    def changed(self, settings: LineSettings, ends: tuple[str, str]) -> _Quality:
        latency, jitter = (self.min_us + self.max_us) // 2, (self.max_us - self.min_us) // 2
        if settings.latency_ms is not None:
            latency = round(settings.latency_ms * MILLISECOND)
        if settings.jitter_ms is not None:
            jitter = round(settings.jitter_ms * MILLISECOND)
        is_timed = settings.latency_ms is not None or settings.jitter_ms is not None
        bandwidth, loss, reorder = settings.bandwidth_kbps, settings.loss_ppm, settings.reorder_ppm
        return _Quality(
            max(latency - jitter, 0) if is_timed else self.min_us,
            latency + jitter if is_timed else self.max_us,
            self.bytes_per_second if bandwidth is None else bandwidth * BYTES_PER_KILOBIT,
            self.loss_ppm if loss is None else loss,
            self.reorder_ppm if reorder is None else reorder,
            self.shared_line if bandwidth is None else ends,
        )


@dataclass(frozen=True, slots=True)
class _Route:
    """Effective route between two nodes, in one direction."""

    sites: tuple[str, str]
    is_remote: bool
    quality: _Quality


class Address(NamedTuple):
    """Node and listener at an endpoint."""

    server: str
    """Node that listens."""
    listener: ListenerSpec


@dataclass(slots=True)
class Link:
    """Connection that one node opened to another; frames on it arrive in order."""

    key: LinkKey
    number: int
    """Number of the link in the world; a link that is opened again gets a new number."""
    client: str
    server: str
    listener: ListenerSpec
    """Listener of the server to which the link was opened."""
    last_request_at: Instant = 0
    last_response_at: Instant = 0
    open: bool = True
    is_announced: bool = False
    """Whether the server knows of the link; it is notified with the first frame."""

    is_read: bool = True
    """Whether the server wants frames; frames that it does not want yet are held."""
    held_frames: deque[bytes] = field(default_factory=deque)
    counts: LinkCounts | None = None
    """Counters of the link, if the client requested them."""
    inbound: InboundLink = field(init=False)
    """Server's name for the link."""
    outbound: OutboundLink = field(init=False)
    """Client's name for the link."""
    request_text: str = field(init=False)
    """Start of the trace text for a frame that arrives at the server; `response_text` is for one that returns."""
    response_text: str = field(init=False)

    def __post_init__(self) -> None:
        self.outbound = self.key[1]
        peer, channel = self.outbound
        self.inbound = InboundLink((self.client, channel, self.number))
        self.request_text = f"request from {self.client}"
        self.response_text = f"response from {peer} on {channel}"

    @property
    def port(self) -> int:
        """Port on the client's side, from the ephemeral port range of Linux."""
        return PORT_MIN + self.number % PORTS


class Network:
    """Computes when frames arrive, and whether they are lost."""

    def __init__(self, rng: Rng, options: NetworkOptions) -> None:
        self._rng = rng
        # A separate stream: a run without loss draws the same numbers as before.
        self._faults = rng.split("loss")
        self._reorder_max_us = options.reorder_max_us
        self._local = _Quality(options.local_min_us, options.local_max_us)
        self._remote = _Quality(
            options.remote_min_us,
            options.remote_max_us,
            options.bytes_per_second,
            options.loss_ppm,
            options.reorder_ppm,
        )
        self._settings: dict[tuple[str, str], LineSettings] = {}
        """(sender, receiver), sites or nodes."""
        self._routes: dict[tuple[str, str], _Route] = {}
        """By (sender, receiver), nodes: cache of the properties that follow from the settings."""
        self._free_at: dict[tuple[str, str], Instant] = {}
        self.crossed: dict[tuple[str, str], int] = {}
        """Bytes sent from one site to another."""
        self._sites: dict[str, str] = {}
        self.down: dict[tuple[str, str], None] = {}
        """(sender, receiver), sites or nodes."""
        self._slow: dict[frozenset[str], Duration] = {}
        self._lossy: dict[frozenset[str], int] = {}
        self.addresses: dict[Endpoint, Address] = {}

    def add(self, name: str, site: str, listeners: Sequence[ListenerSpec] = ()) -> None:
        """Place a node at a site; delays are local within a site, and remote between sites."""
        self._sites[name] = site
        for listener in listeners:
            self.addresses[listener.advertised] = Address(name, listener)

    def places(self) -> list[str]:
        """Return the names of all sites and nodes, each site before its nodes."""
        names: dict[str, None] = {}
        for site in dict.fromkeys(self._sites.values()):
            names[site] = None
            names.update(dict.fromkeys(node for node, node_site in self._sites.items() if node_site == site))
        return list(names)

    def take_down(self, sender: str, receiver: str) -> None:
        """Lose all data from one site or node to another from now on; the other direction is not affected."""
        self.down[sender, receiver] = None

    def bring_up(self, sender: str, receiver: str) -> None:
        """Stop losing data from one site or node to another."""
        self.down.pop((sender, receiver), None)

    def was_taken_down(self, sender: str, receiver: str) -> bool:
        """Return whether `take_down` was called for exactly these two, without `bring_up` since."""
        return (sender, receiver) in self.down

    def set(self, sender: str, receiver: str, settings: LineSettings) -> None:
        """Replace the settings of the line from one site or node to another.

        If several settings apply to two nodes, those of the two nodes take precedence, then those of a node and a site,
        and then those of the sites; this applies to each property separately.
        """
        self._settings[sender, receiver] = settings
        self._routes.clear()

    def settings(self, sender: str, receiver: str) -> LineSettings:
        """Return the settings for exactly these two."""
        return self._settings.get((sender, receiver), LineSettings())

    def _route(self, sender: str, receiver: str) -> _Route:
        sender_site, receiver_site = self._sites[sender], self._sites[receiver]
        quality = self._local if sender_site == receiver_site else self._remote
        for ends in (
            (sender_site, receiver_site),
            (sender_site, receiver),
            (sender, receiver_site),
            (sender, receiver),
        ):
            if (settings := self._settings.get(ends)) is not None:
                quality = quality.changed(settings, ends)
        route = self._routes[sender, receiver] = _Route(
            (sender_site, receiver_site), sender_site != receiver_site, quality
        )
        return route

    def slow_down(self, one: str, other: str, extra_us: Duration) -> None:
        """Delay every frame between two sites or nodes by `extra_us`; 0 ends the delay."""
        _set_or_remove(self._slow, frozenset((one, other)), extra_us)

    def lose(self, one: str, other: str, loss_ppm: int) -> None:
        """Lose `loss_ppm` packets of a million between two sites or nodes; they are sent again. 0 ends the loss."""
        _set_or_remove(self._lossy, frozenset((one, other)), loss_ppm)

    def is_down(self, sender: str, receiver: str) -> bool:
        """Return whether data from one node to another is lost because their line or a line of a site is down."""
        return not self.down.keys().isdisjoint(self._ends(sender, receiver))

    def _ends(self, one: str, other: str) -> tuple[tuple[str, str], ...]:
        """Return all pairs of nodes or sites whose lines connect these two nodes."""
        site, other_site = self._sites[one], self._sites[other]
        return ((one, other), (site, other_site), (one, other_site), (site, other))

    def _disturbance_delay(self, sender: str, receiver: str, size: int, quality: _Quality) -> Duration:
        """Return the additional delay of a frame on a line that was made slow or lossy."""
        extra = 0
        for pair in self._ends(sender, receiver):
            ends = frozenset(pair)
            extra += self._slow.get(ends, 0)
            if loss_ppm := self._lossy.get(ends, 0):
                extra += self._retransmission_delay(size, loss_ppm, quality)
        return extra

    def arrival(self, now: Instant, sender: str, receiver: str, not_before: Instant, size: int = 0) -> Instant:
        """Return when a frame of `size` bytes sent now arrives; never before the one sent before it."""
        route = self._routes.get((sender, receiver)) or self._route(sender, receiver)
        quality = route.quality
        extra = self._disturbance_delay(sender, receiver, size, quality) if self._slow or self._lossy else 0
        if route.is_remote:
            self.crossed[route.sites] = self.crossed.get(route.sites, 0) + size
        sent = now
        if quality.bytes_per_second:
            line = quality.shared_line if any(quality.shared_line) else route.sites
            sent = max(now, self._free_at.get(line, now)) + size * MILLION // quality.bytes_per_second
            self._free_at[line] = sent
        delay = self._rng.between(quality.min_us, quality.max_us)
        if quality.loss_ppm:
            delay += self._retransmission_delay(size, quality.loss_ppm, quality)
        if quality.reorder_ppm and self._faults.chance(quality.reorder_ppm, MILLION):
            delay += self._faults.between(0, self._reorder_max_us)
        return max(sent + delay + extra, not_before)

    def _retransmission_delay(self, size: int, loss_ppm: int, quality: _Quality) -> Duration:
        """Return the delay of a frame because of lost packets.

        Packets lost in one round are requested together. Loss of the last packet is not noticed through later packets,
        so it waits for the timeout, which doubles each time.
        """
        packets = 1 + size // PACKET_BYTES
        has_tail = True
        delay = 0
        for round_ in range(DOUBLINGS_MAX):
            lost_packets = sum(self._faults.chance(loss_ppm, MILLION) for _ in range(packets - has_tail))
            is_tail_lost = has_tail and self._faults.chance(loss_ppm, MILLION)
            if not lost_packets and not is_tail_lost:
                break
            round_trip = 2 * quality.max_us
            delay += (max(RETRANSMIT_MIN, round_trip) << round_) if is_tail_lost else round_trip
            packets, has_tail = lost_packets + is_tail_lost, is_tail_lost
        return delay


def _set_or_remove(values: dict[frozenset[str], int], key: frozenset[str], value: int) -> None:
    """Store a value, or remove it if it is 0."""
    if value:
        values[key] = value
    else:
        values.pop(key, None)
