"""A controller that has not read its log yet: requests wait, and no response is based on an unknown past."""

from __future__ import annotations

from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.metadata.opening import OpenMetadataLog
from kmirror.kernel.events import DiskDone, DiskWork, Effect, Note, Reply, RequestReceived, Started, Stop, Stopped
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.log.disk import MemoryDisk
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.headers import encode_request
from tests.client_links import handle_with_disk, link_opened

QUESTION = encode_request(ApiVersionsRequest(), 0, correlation_id=5, client_id="c")


def started() -> tuple[Controller, DiskWork]:
    """Return a controller, and the job that it waits for."""
    node = Controller(
        ControllerOptions(100, "cluster", (ListenerSpec.plain(Endpoint("controller", 9093)),)), MemoryDisk(), Rng(1)
    )
    [job] = node.handle(0, Started())
    assert isinstance(job, DiskWork) and isinstance(job.job, OpenMetadataLog)
    return node, job


def opening(node: Controller, job: DiskWork) -> list[Effect]:
    return handle_with_disk(node, 1, DiskDone(job.key, job.job.run()))


def test_requests_wait_until_the_log_has_been_read() -> None:
    node, job = started()
    one = link_opened("one")
    assert node.handle(0, one) == []
    assert node.handle(0, RequestReceived(one.link, QUESTION)) == [] and not node.is_open
    assert [effect.link for effect in opening(node, job) if isinstance(effect, Reply)] == [one.link]
    assert node.is_open


def test_a_log_that_cannot_be_opened_ends_the_controller_with_a_reason() -> None:
    node, job = started()
    note, stopped = node.handle(1, DiskDone(job.key, None, OSError("disk away")))
    assert isinstance(note, Note) and "the metadata log cannot be opened: disk away" in note.text
    assert isinstance(stopped, Stopped)


def test_a_stop_while_the_log_is_opened_closes_it() -> None:
    node, job = started()
    assert node.handle(0, Stop()) == []
    assert opening(node, job) == [Stopped()]
