"""Proofs that the source's brokers from which this broker fetches are up to date (D77).

A proof is requested from each broker once per `mirror.metadata.refresh.interval.ms`, as from a witness (D60). If the
source's release cannot prove anything, or the proof is denied, all brokers that it lists must name the leaders from
which we fetch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kmirror.client.witnesses import Witnesses, ask_for_proof
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.mirror.context import NAME, PROOF_TIMER, MirrorContext
from kmirror.mirror.lag import proof_interval
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.proved_brokers import ProvedBroker
from kmirror.mirror.source_responses import metadata_request
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message

NOT_AGREED = "not all brokers of the source name it as the leader"


class LeaderProofs:
    """Keeps the proofs of all brokers from which this broker fetches for mirrors."""

    def __init__(self, context: MirrorContext) -> None:
        self._context = context
        self._timers: dict[str, Instant] = {}
        """Mirror to the time when its timer fires."""

    def require(self, now: Instant, mirror: str, endpoint: Endpoint) -> None:
        """Request a proof from a broker after the present event, unless it has given one, or a request is pending."""
        broker = self._context.proved.get((mirror, endpoint))
        if broker is not None and broker.failures and not broker.is_requested:
            broker.next_at = now
        if broker is None or broker.next_at == now:
            self._set_timer(mirror, now)

    def renew(self, now: Instant, mirror: str, endpoint: Endpoint) -> None:
        """Ask a broker again soon: a link to it has ended, so its proofs no longer count."""
        broker = self._context.proved.get((mirror, endpoint))
        if broker is not None and not broker.is_requested and not broker.failures:
            broker.on_failure(now, "")
            self._set_timer(mirror, broker.next_at)

    def on_timer(self, now: Instant, mirror: str) -> None:
        """Ask the brokers whose proofs are due, and forget those that are no longer fetched from."""
        self._timers.pop(mirror, None)
        source, proved = self._context.sources.get(mirror), self._context.proved
        endpoints = {} if source is None else self._fetched_partitions(mirror)
        for key in [key for key in proved if key[0] == mirror and key[1] not in endpoints]:
            del proved[key]
        if source is None:
            return
        for endpoint in endpoints:
            broker = proved.get((mirror, endpoint))
            if broker is None or broker.source is not source:
                broker = proved[mirror, endpoint] = ProvedBroker(mirror, source, endpoint)
            if not broker.is_requested and broker.next_at <= now:
                self._request_leaders(now, broker)
            elif not broker.is_requested:
                self._set_timer(mirror, broker.next_at)

    def _fetched_partitions(self, mirror: str) -> Mapping[Endpoint, list[MirrorPartition]]:
        """Return the partitions that are fetched for a mirror, by the broker from which they are fetched."""
        found: dict[Endpoint, list[MirrorPartition]] = {}
        for mp in self._context.partitions_of(mirror):
            if mp.fetcher is not None:
                found.setdefault(mp.fetcher.endpoint, []).append(mp)
        return found

    def _set_timer(self, mirror: str, at: Instant) -> None:
        if mirror not in self._timers or at < self._timers[mirror]:
            self._timers[mirror] = at
            self._context.broker.outbox.set_timer((NAME, PROOF_TIMER, mirror), at)

    def _request_leaders(self, now: Instant, broker: ProvedBroker) -> None:
        broker.is_requested = True

        def on_found(later: Instant, found: Witnesses) -> None:
            if found.endpoints == [broker.endpoint]:
                self._on_proof(later, broker, now)
            elif found.endpoints:
                topics = dict.fromkeys(
                    mp.tp.topic for mp in self._fetched_partitions(broker.mirror).get(broker.endpoint, ())
                )
                on_responses = partial(self._on_responses, broker, later)
                found.ask(later, broker.source, metadata_request(topics), on_responses)
            else:
                self._on_failure(
                    later, broker, found.no_response or "it does not reach its controller, or is behind it"
                )

        ask_for_proof(broker.source, now, broker.endpoint, on_found)

    def _on_responses(
        self, broker: ProvedBroker, asked_at: Instant, now: Instant, responses: Sequence[Message]
    ) -> None:
        """Accept the responses as a proof if all brokers name the leaders from which we fetch."""
        reports = [_read_leaders(response) for response in responses if isinstance(response, MetadataResponse)]
        partitions = self._fetched_partitions(broker.mirror).get(broker.endpoint, ())
        if reports and all(leaders.get(mp.tp) == _fetched_leader(mp) for leaders in reports for mp in partitions):
            self._on_proof(now, broker, asked_at)
        else:
            self._on_failure(now, broker, NOT_AGREED if reports else "not all brokers of the source respond")

    def _on_proof(self, now: Instant, broker: ProvedBroker, asked_at: Instant) -> None:
        broker.on_proof(now, asked_at, proof_interval(self._context))
        self._set_timer(broker.mirror, max(now, broker.next_at))

    def _on_failure(self, now: Instant, broker: ProvedBroker, reason: str) -> None:
        broker.on_failure(now, reason)
        self._set_timer(broker.mirror, broker.next_at)


def _read_leaders(response: MetadataResponse) -> dict[TopicPartition, tuple[int, int]]:
    """Return the leaders that a response names, with their leader epochs."""
    return {
        TopicPartition(topic.name or "", row.partition_index): (row.leader_id, row.leader_epoch)
        for topic in response.topics
        for row in topic.partitions
    }


def _fetched_leader(mp: MirrorPartition) -> tuple[object, int] | None:
    return None if mp.fetcher is None else (mp.fetcher.key[1], mp.source_epoch)
