"""Records that are proposed and taken back leave image and log as they were before."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.events import TimerFired
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.protocol.message import Message
from tests.client_links import handle_with_disk
from tests.property.cluster.test_metadata_snapshots import facts, logs
from tests.unit.cluster.stage import controller


def proposed_records(log: list[tuple[VersionedMessage, ...]]) -> list[Message]:
    """Return the records that count, as a controller writes them."""
    transactions = MetadataTransactions()
    records = [record.message for batch in log for one in batch for record in transactions.add(one)]
    for record in records:
        if isinstance(record, PartitionRecord):
            record.eligible_leader_replicas = record.last_known_elr = None
    return records


def commit(target: Controller) -> None:
    """Have the proposed records flushed."""
    handle_with_disk(target, MILLISECOND, TimerFired(("sessions",)))
    assert target.quorum.committed_end == target.quorum.end_offset


def write_snapshot(target: Controller) -> None:
    log = target.context.log
    job = log.begin_snapshot()
    assert job is not None
    log.add_snapshot(job.run())


@given(logs(), st.data())
def test_reverted_records_leave_the_former_image(log: list[tuple[VersionedMessage, ...]], data: st.DataObject) -> None:
    target, records = controller(brokers=(), mirror_version=0), proposed_records(log)
    image = target.image
    committed = data.draw(st.integers(0, len(records)))
    kept = data.draw(st.integers(committed, len(records)))
    for record in records[:committed]:
        target.commit(0, [record])
    commit(target)
    if data.draw(st.booleans()):
        write_snapshot(target)
    for record in records[committed:kept]:
        target.commit(0, [record])
    former, end_offset = deepcopy(facts(image)), target.quorum.end_offset
    for record in records[kept:]:
        target.commit(0, [record])
    target.remove_uncommitted(end_offset)
    assert facts(image) == former and image is target.context.image
    assert image.offset + 1 == target.quorum.end_offset == end_offset
    for record in records[kept:]:
        target.commit(0, [record])
    commit(target)
    assert image.offset + 1 == target.quorum.end_offset == end_offset + len(records) - kept
