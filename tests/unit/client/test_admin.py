"""A request is repeated while it was not carried out, and answered once."""

from __future__ import annotations

import pytest

from kmirror.client.admin import Admin, AdminConfigs
from kmirror.client.backoff import Backoff
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import ONE, TWO, Script

ORDER = CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)])


class Stage:
    def __init__(self, configs: AdminConfigs | None = None) -> None:
        self.script = Script()
        self.answers: list[tuple[Instant, Message | ErrorCode]] = []
        self.admin = Admin("admin", self.script.requester, (ONE, TWO), configs)

    def ask(self, now: Instant = 0) -> None:
        self.admin.ask(now, ORDER, lambda later, reply: self.answers.append((later, reply)))
        self.script.answer_versions(now)

    def fire(self) -> Instant:
        """Let the admin's timer fire; return its time."""
        self.script.pending_requests()
        ((key, at),) = self.script.timers.items()
        self.script.timers.clear()
        self.admin.on_timer(at, key)
        return at


def answer(error: ErrorCode) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name="t", error_code=error)])


@pytest.mark.parametrize(
    "error", [ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
)
def test_any_response_ends_the_request(error: ErrorCode) -> None:
    stage = Stage()
    stage.ask()
    stage.script.answer(answer(error), 5)
    assert [(now, type(reply)) for now, reply in stage.answers] == [(5, CreateTopicsResponse)]
    assert stage.script.timers == {}


def test_a_broker_without_a_controller_is_followed_by_another_one() -> None:
    stage = Stage()
    stage.ask()
    assert stage.script.answer(answer(ErrorCode.NOT_CONTROLLER)).peer == ONE
    assert stage.answers == [] and stage.fire() == 100 * MILLISECOND
    stage.script.answer_versions()
    assert stage.script.answer(answer(ErrorCode.NONE)).peer == TWO
    assert len(stage.answers) == 1


def test_a_broker_that_does_not_serve_the_order_ends_it() -> None:
    stage = Stage()
    stage.admin.ask(0, ORDER, lambda later, reply: stage.answers.append((later, reply)))
    stage.script.answer_versions(CreateTopics=(100, 107))
    assert stage.answers == [(0, ErrorCode.UNSUPPORTED_VERSION)] and stage.script.pending_requests() == []


def test_pauses_double_until_the_timeout() -> None:
    stage = Stage(AdminConfigs(default_api_timeout_ms=1_000, retry_backoff_max_ms=300))
    stage.ask()
    at = []
    while not stage.answers:
        stage.script.break_link(at[-1] if at else 0)
        if not stage.answers:
            at.append(stage.fire())
    assert [now // MILLISECOND for now in at] == [100, 300, 600, 900]
    assert stage.answers == [(900 * MILLISECOND, ErrorCode.REQUEST_TIMED_OUT)]


def test_a_pause_has_a_maximum_after_any_number_of_failures() -> None:
    backoff = Backoff(100, 1_000)
    assert [backoff.pause_ms(n) for n in (0, 1, 2, 3, 4, 10_000)] == [100, 200, 400, 800, 1_000, 1_000]
