"""The event loop of the nodes: uvloop's if it is installed, else asyncio's."""

from __future__ import annotations

import asyncio
import sys

import pytest

from kmirror.net.loop_thread import LoopThread, new_loop


def test_uvloop_runs_the_nodes_where_it_is_installed() -> None:
    uvloop = pytest.importorskip("uvloop")
    thread = LoopThread("test")
    thread.start()
    try:
        assert isinstance(thread.loop, uvloop.Loop)
        assert thread.call(lambda: thread.is_current)
    finally:
        thread.stop()


def test_asyncio_s_loop_does_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    loop = new_loop()
    try:
        assert type(loop).__module__.startswith("asyncio") and isinstance(loop, asyncio.AbstractEventLoop)
    finally:
        loop.close()
