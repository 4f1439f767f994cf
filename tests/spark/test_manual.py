"""The pages of the manual whose examples start a JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manual.run import run_page
from tests.manual.test_docs import SPARK_PAGES


@pytest.mark.parametrize("page", SPARK_PAGES)
def test_the_examples_of_a_page_run_with_the_shown_output(page: str, root: Path, spark: Any, tmp_path: Path) -> None:
    """The session that the page requests is the one of these tests."""
    assert run_page(root / page, tmp_path) > 0
