"""SCRAM: the RFC's vectors, invalid server messages, and any name and password against an independent server."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.client.sasl import PlainClient, SaslError
from kmirror.client.scram import HASHES, ITERATIONS_MAX, ScramClient

CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SERVER_FIRST = f"r={CLIENT_NONCE}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def begun() -> ScramClient:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", CLIENT_NONCE)
    client.first()
    return client


def test_the_exchange_of_rfc_7677() -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", CLIENT_NONCE)
    assert client.first() == f"n,,n=user,r={CLIENT_NONCE}".encode()
    proof = client.respond(SERVER_FIRST.encode())
    assert proof == (f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode())
    assert client.respond(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None


@pytest.mark.parametrize(
    ("server_first", "words"),
    [
        (SERVER_FIRST.replace("i=4096", "i=4095"), "4096 to"),
        (SERVER_FIRST.replace("i=4096", f"i={ITERATIONS_MAX + 1}"), "4096 to"),
        (SERVER_FIRST.replace("i=4096", "i=99999999999999999999"), "4096 to"),
        (SERVER_FIRST.replace("i=4096", "i=²"), "4096 to"),
        (SERVER_FIRST.replace(",i=4096", ""), "4096 to"),
        (SERVER_FIRST.replace("r=r", "r=x"), "another exchange"),
        (f"r={CLIENT_NONCE},s=W22Z,i=4096", "another exchange"),
        (SERVER_FIRST.replace("W22Z", "W2*Z"), "base64"),
        (SERVER_FIRST.replace("s=W22ZaJ0SNY7soEsUEjb6gQ==", "s="), "base64"),
        ("m=what," + SERVER_FIRST, "extension"),
        ("", "another exchange|base64"),
    ],
)
def test_invalid_first_messages_of_a_server_are_refused(server_first: str, words: str) -> None:
    with pytest.raises(SaslError, match=words):
        begun().respond(server_first.encode())


@pytest.mark.parametrize(
    ("server_final", "words"),
    [
        (b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", "does not prove"),
        (b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl94A==", "does not prove"),
        (b"v=", "base64"),
        (b"", "base64"),
        (b"e=invalid-proof", "invalid-proof"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_server_that_does_not_know_the_password_is_not_believed(server_final: bytes, words: str) -> None:
    client = begun()
    client.respond(SERVER_FIRST.encode())
    with pytest.raises(SaslError, match=words) as caught:
        client.respond(server_final)
    assert "pencil" not in str(caught.value)


@given(st.data(), st.sampled_from(sorted(HASHES)), st.booleans())
def test_any_name_and_password_are_proved(data: Any, mechanism: str, is_token: bool) -> None:
    """The server follows RFC 5802, section 3, and stores only StoredKey and ServerKey."""
    text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
    username, password, salt = data.draw(text), data.draw(text), data.draw(st.binary(min_size=1))
    digest = HASHES[mechanism]

    def h(key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, digest).digest()

    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, 4096)
    stored_key = hashlib.new(digest, h(salted, b"Client Key")).digest()
    client = ScramClient(mechanism, username, password, "abc", is_token=is_token)
    header, bare = client.first().split(b",,")
    fields = bare.decode().split(",")
    assert header == b"n" and fields[1] == "r=abc" and fields[2:] == (["tokenauth=true"] if is_token else [])
    assert fields[0][2:].replace("=2C", ",").replace("=3D", "=") == username
    server_first = b"r=abcdef,s=" + base64.b64encode(salt) + b",i=4096"
    final = client.respond(server_first)
    assert final is not None
    without_proof, _, proof = final.partition(b",p=")
    signed = b",".join((bare, server_first, without_proof))
    client_key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), h(stored_key, signed), strict=True))
    assert hashlib.new(digest, client_key).digest() == stored_key
    assert client.respond(b"v=" + base64.b64encode(h(h(salted, b"Server Key"), signed))) is None


def test_plain_is_name_and_password_behind_nothing() -> None:
    client = PlainClient("ü", "p,=")
    assert client.first() == b"\0\xc3\xbc\0p,="
    client.respond(b"")
