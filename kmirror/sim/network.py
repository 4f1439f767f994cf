"""The simulated network: ordered links, seeded delays, cuts; between sites also bandwidth, loss, reordering.

A link belongs to the node that opened it and to one channel. Frames on a link arrive in the order
in which they were sent, each after the delay drawn for it. A cut between two groups of nodes loses
whatever is sent across it, without a word, as a firewall does; a node that dies closes its links,
and the other end is told.

Between two sites lies one line in each direction, which all links share:
- bandwidth: frames leave one after the other, each taking its size over the line's rate;
- loss: a link is what TCP makes of the line, so a lost packet costs time and not data. Each lost
  packet holds its frame, and what follows on that link, for a retransmission;
- reordering: a frame is held up, so that frames of other links overtake it.

While a run goes on any two sites or nodes may be cut from each other, both ways or one way, or their line made
slow or lossy; a line that nobody touched draws the numbers it always drew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields

from kmirror.kernel.arguments import whole_number
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import InboundLink, OutboundLink
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.rng import Rng

MILLION = 1_000_000
PORT_MIN = 32768
PORTS = 28232
PACKET_BYTES = 1460
RETRANSMIT_MIN: Duration = 200 * MILLISECOND
"""The shortest retransmission timeout of Linux; a packet with others behind it is missed after a round trip."""
DOUBLINGS_MAX = 6

LinkKey = tuple[str, OutboundLink]
"""The node that opened it, and what that node calls it."""


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """One-way delays in microseconds, inclusive bounds; the rest is about lines between sites.

    Chances are in parts per million, of a packet to be lost and of a frame to be held up.
    """

    local_min_us: Duration = MILLISECOND // 10
    local_max_us: Duration = MILLISECOND
    remote_min_us: Duration = 20 * MILLISECOND
    remote_max_us: Duration = 30 * MILLISECOND
    bytes_per_second: int = 0
    """Of a line, in each direction; 0 stands for no limit."""
    loss_ppm: int = 0
    reorder_ppm: int = 0
    reorder_max_us: Duration = 50 * MILLISECOND

    def __post_init__(self) -> None:
        """Raise UsageError for a number that is none, below 0, or no chance; and for delays the wrong way round."""
        for each in fields(self):
            most = MILLION if each.name.endswith("_ppm") else None
            whole_number(each.name, getattr(self, each.name), 0, most)
        whole_number("local_max_us", self.local_max_us, self.local_min_us)
        whole_number("remote_max_us", self.remote_max_us, self.remote_min_us)


@dataclass(slots=True)
class Link:
    key: LinkKey
    number: int
    """Counts the links of the world; a link that is opened again is another one."""
    client: str
    server: str
    there_at: Instant = 0
    back_at: Instant = 0
    open: bool = True
    is_told: bool = False
    """Does the server know of it yet? It learns of it with the first frame."""

    is_read: bool = True
    """Does the server want frames? Those that it does not want yet are held."""
    held: deque[bytes] = field(default_factory=deque)
    inbound: InboundLink = field(init=False)
    """What the server calls it."""

    def __post_init__(self) -> None:
        self.inbound = InboundLink((self.client, self.outbound.channel, self.number))

    @property
    def outbound(self) -> OutboundLink:
        """Return what the client calls it."""
        return self.key[1]

    @property
    def port(self) -> int:
        """Return the port on the client's side, one of the range that Linux takes them from."""
        return PORT_MIN + self.number % PORTS


class Network:
    """Says when a frame arrives, or that it does not."""

    def __init__(self, rng: Rng, options: NetworkOptions) -> None:
        self._rng = rng
        # A stream of its own: a run without loss draws the numbers it always drew.
        self._faults = rng.split("loss")
        self._options = options
        self._free_at: dict[tuple[str, str], Instant] = {}
        self.crossed: dict[tuple[str, str], int] = {}
        """Bytes that were sent from one site to another."""
        self._sites: dict[str, str] = {}
        self._cuts: dict[tuple[str, str], None] = {}
        """(sender, receiver), sites or nodes."""
        self._slow: dict[frozenset[str], Duration] = {}
        self._lossy: dict[frozenset[str], int] = {}
        self.addresses: dict[Endpoint, str] = {}

    def add(self, name: str, site: str, endpoint: Endpoint | None) -> None:
        """Put a node at a site; delays within a site are local, between sites remote."""
        self._sites[name] = site
        if endpoint is not None:
            self.addresses[endpoint] = name

    def cut(self, one: str, other: str) -> None:
        """Lose everything between two sites or nodes from now on."""
        self._cuts[one, other] = self._cuts[other, one] = None

    def cut_one_way(self, sender: str, receiver: str) -> None:
        """Lose what one site or node sends to another; what comes back arrives."""
        self._cuts[sender, receiver] = None

    def heal(self, one: str, other: str) -> None:
        """Lose nothing any more between two sites or nodes, in either direction."""
        self._cuts.pop((one, other), None)
        self._cuts.pop((other, one), None)

    def slow_down(self, one: str, other: str, extra_us: Duration) -> None:
        """Let every frame between two sites or nodes take `extra_us` longer; 0 ends it."""
        _set(self._slow, frozenset((one, other)), extra_us)

    def lose(self, one: str, other: str, loss_ppm: int) -> None:
        """Lose packets between two sites or nodes, which are then sent again; 0 ends it."""
        _set(self._lossy, frozenset((one, other)), loss_ppm)

    def is_cut(self, sender: str, receiver: str) -> bool:
        """Is what `sender` sends to `receiver` lost?"""
        cuts = self._cuts
        if not cuts:
            return False
        return any(pair in cuts for pair in self._ends(sender, receiver))

    def _ends(self, one: str, other: str) -> tuple[tuple[str, str], ...]:
        """Return every pair of node or site that a line between two nodes belongs to."""
        here, there = self._sites[one], self._sites[other]
        return ((one, other), (here, there), (one, there), (here, other))

    def _disturbed(self, sender: str, receiver: str, size: int) -> Duration:
        """Return how much longer than drawn a frame takes on a line that was made slow or lossy."""
        extra = 0
        for pair in self._ends(sender, receiver):
            ends = frozenset(pair)
            extra += self._slow.get(ends, 0)
            if loss_ppm := self._lossy.get(ends, 0):
                extra += self._retransmissions(size, loss_ppm)
        return extra

    def arrival(self, now: Instant, sender: str, receiver: str, not_before: Instant, size: int = 0) -> Instant:
        """Return when a frame of `size` bytes sent now arrives; never before the one sent ahead of it."""
        here, there = self._sites[sender], self._sites[receiver]
        options = self._options
        extra = self._disturbed(sender, receiver, size) if self._slow or self._lossy else 0
        if here == there:
            return max(now + self._rng.between(options.local_min_us, options.local_max_us) + extra, not_before)
        line = (here, there)
        self.crossed[line] = self.crossed.get(line, 0) + size
        sent = now
        if options.bytes_per_second:
            sent = max(now, self._free_at.get(line, now)) + size * MILLION // options.bytes_per_second
            self._free_at[line] = sent
        delay = self._rng.between(options.remote_min_us, options.remote_max_us)
        if options.loss_ppm:
            delay += self._retransmissions(size, options.loss_ppm)
        if options.reorder_ppm and self._faults.chance(options.reorder_ppm, MILLION):
            delay += self._faults.between(0, options.reorder_max_us)
        return max(sent + delay + extra, not_before)

    def _retransmissions(self, size: int, loss_ppm: int) -> Duration:
        """Return how long lost packets of a frame hold it up.

        Packets lost in one round are asked for together. The last one has nobody behind it to show
        that it is missing, so it waits for the timeout, which doubles each time.
        """
        options = self._options
        left = 1 + size // PACKET_BYTES
        has_tail = True
        waited = 0
        for round_ in range(DOUBLINGS_MAX):
            lost = sum(self._faults.chance(loss_ppm, MILLION) for _ in range(left - has_tail))
            tail_lost = has_tail and self._faults.chance(loss_ppm, MILLION)
            if not lost and not tail_lost:
                break
            round_trip = 2 * options.remote_max_us
            waited += (max(RETRANSMIT_MIN, round_trip) << round_) if tail_lost else round_trip
            left, has_tail = lost + tail_lost, tail_lost
        return waited


def _set(values: dict[frozenset[str], int], key: frozenset[str], value: int) -> None:
    """Remember a value, or forget it if it is 0."""
    if value:
        values[key] = value
    else:
        values.pop(key, None)
