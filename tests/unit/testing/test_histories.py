"""The assertion for tests: silent if the history is clean, and the whole story otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.testing import histories
from kmirror.testing.histories import assert_history_clean
from tests.unit.histories.fake import draw, run_history


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "run_history", run_history)


def test_a_clean_history_returns_its_outcome() -> None:
    outcome = assert_history_clean(seed=3, profile="clean")
    assert outcome.plan == draw(3, "clean")
    assert outcome.digest == run_history(seed=3, profile="clean").digest


@pytest.mark.parametrize(
    ("profile", "first"), [("full", "safety in a history"), ("crash", "crash in"), ("stuck", "liveness in")]
)
def test_a_failed_one_is_an_assertion_error_with_the_whole_story(profile: str, first: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_history_clean(seed=7, profile=profile)
    text = str(caught.value)
    assert text.startswith(first)
    assert "20 steps" in text and "What happened" in text and "Logs of orders-0" in text
    assert text.endswith(f"again: kmirror sim --seed 7 --profile {profile}")


def test_it_is_shrunk_if_the_test_allows_runs_for_it() -> None:
    with pytest.raises(AssertionError, match="2 steps, 1 client"):
        assert_history_clean(seed=7, shrink_runs=300)


def test_a_plan_and_a_file_with_one_are_run(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(draw(7, "full").to_json(), "utf-8")
    with pytest.raises(AssertionError) as caught:
        assert_history_clean(plan=file)
    assert str(caught.value).endswith(f"again: kmirror sim --plan {file}")
    with pytest.raises(AssertionError, match="acked-lost: orders-0 of b"):
        assert_history_clean(plan=draw(7, "full"))
    assert assert_history_clean(plan=draw(7, "clean")).plan.profile == "clean"
