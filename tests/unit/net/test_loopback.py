"""Targets that may be broken without asking: loopback, and no other address of this machine."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.fuzz.targets.tcp import checked_address
from kmirror.net.loopback import check_loopback, is_loopback
from kmirror.proxy.proxy import Proxy

KNOWN = {
    "here": ["127.0.0.1", "::1"],
    "half": ["127.0.0.1", "10.0.0.5"],
    "lan": ["192.168.1.7"],
    "mapped": ["::ffff:127.0.0.1"],
    "any": ["0.0.0.0"],
}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(host: str, *_: object, **__: object) -> list[Any]:
        if host not in KNOWN:
            raise socket.gaierror(8, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in KNOWN[host]]

    monkeypatch.setattr(socket, "getaddrinfo", found)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_is_known(host: str) -> None:
    assert is_loopback(host)
    check_loopback(host)


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("here", True), ("mapped", True), ("half", False), ("lan", False), ("any", False), ("unknown", False)],
)
def test_a_name_is_loopback_under_each_of_its_addresses(names: None, host: str, is_own: bool) -> None:
    assert is_loopback(host) is is_own


@pytest.mark.parametrize("host", ["192.0.2.1", "10.0.0.5", "kafka.invalid"])
def test_proxy_and_fuzzer_mean_the_same(host: str) -> None:
    told = rf"{host} is not loopback: .* --i-own-this-host"
    with pytest.raises(UsageError, match=told):
        Proxy(f"{host}:9092")
    with pytest.raises(UsageError, match=told):
        checked_address(f"{host}:9092", owns_host=False)
    Proxy(f"{host}:9092", own_host=True)
    assert checked_address(f"{host}:9092", owns_host=True) == (host, 9092)


def test_an_address_of_this_machine_that_others_reach_is_not_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        try:
            opened.connect(("192.0.2.1", 9))  # Sends nothing, but shows the source address that would be used.
        except OSError:
            pytest.skip("this machine has no other address")
        own = opened.getsockname()[0]
    assert not is_loopback(own)
