"""Aspect of the metadata image: the next block of producer ids."""

from __future__ import annotations

from kmirror.cluster.images.aspect import KeyedAspect, Replays
from kmirror.cluster.images.delta import Delta
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord

PRODUCER_IDS = KeyedAspect({ProducerIdsRecord: lambda record: None})


class ProducerIds:
    """The first producer id that was not allocated to a broker."""

    def __init__(self) -> None:
        self.next_producer_id = 0

    def replays(self) -> Replays:
        return {ProducerIdsRecord: self._set_next}

    def _set_next(self, record: ProducerIdsRecord, delta: Delta) -> None:
        self.next_producer_id = record.next_producer_id

    def add_difference(self, before: ProducerIds, delta: Delta) -> None:
        """Add nothing: only the controller reads this."""
