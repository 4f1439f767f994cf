"""SCRAM (RFC 5802, RFC 7677) for a client, as in Kafka: proves knowledge of a password without sending it.

As in Kafka's client, names and passwords are used as UTF-8 bytes, without string preparation (no SASLprep). There is no
channel binding, and the only extension is `tokenauth`: name and password are a delegation token's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field

from kmirror.client.sasl import SaslError

ITERATIONS_MIN = 4096
"""The least that Kafka's client accepts."""
ITERATIONS_MAX = 1 << 17
"""AlterUserScramCredentials accepts at most 16384; credentials in ZooKeeper had no limit, and Kafka's client has none.

This limit keeps a server from making us compute for minutes.
"""
NO_BINDING = b"n,,"
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""Mechanism to the name of its hash."""


@dataclass(slots=True)
class SaltedPasswords:
    """Salted passwords by salt and iterations: the costly step need not be repeated for each connection."""

    known: dict[tuple[bytes, int], bytes] = field(default_factory=dict, repr=False)

    def get(self, digest: str, password: str, salt: bytes, iterations: int) -> bytes:
        """Return Hi(password, salt, iterations); all calls must have the same password and hash."""
        value = self.known.get((salt, iterations))
        if value is None:
            value = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
            self.known = {(salt, iterations): value}  # Users seldom change passwords, so one is enough.
        return value


class ScramClient:
    """One exchange. `first` begins it, `respond` answers the server; it is over once `respond` returns None."""

    def __init__(
        self,
        mechanism: str,
        username: str,
        password: str,
        nonce: str,
        *,
        is_token: bool = False,
        salted_passwords: SaltedPasswords | None = None,
    ) -> None:
        """Begin an exchange; `nonce` is printable ASCII without a comma, and differs in each exchange."""
        self._digest = HASHES[mechanism]
        self._password = password
        self._nonce = nonce
        self._salted_passwords = salted_passwords or SaltedPasswords()
        self._first_bare = f"n={_name(username)},r={nonce}{',tokenauth=true' if is_token else ''}".encode()
        self._server_signature: bytes | None = None

    def first(self) -> bytes:
        """Return the client's first message."""
        return NO_BINDING + self._first_bare

    def respond(self, challenge: bytes) -> bytes | None:
        """Return the reply to a message of the server, None if its signature ends the exchange; raises SaslError."""
        if self._server_signature is None:
            return self._prove(challenge)
        fields = _fields(challenge)
        if "e" in fields:
            raise SaslError(f"the broker rejected the password: {fields['e']}")
        if not hmac.compare_digest(_decode_field(fields, "v"), self._server_signature):
            raise SaslError("the broker does not prove that it knows the password: its signature is wrong")
        return None

    def _prove(self, challenge: bytes) -> bytes:
        fields = _fields(challenge)
        if "m" in fields:
            raise SaslError("the broker requires an unknown extension of SCRAM")
        nonce, salt, iterations_text = fields.get("r", ""), _decode_field(fields, "s"), fields.get("i", "")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise SaslError("the broker's nonce does not start with ours: the message belongs to another exchange")
        iterations = (
            int(iterations_text)
            if iterations_text.isascii() and iterations_text.isdigit() and len(iterations_text) < 10
            else 0
        )
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise SaslError(
                f"the broker wants {iterations_text[:20]!r} iterations; "
                f"{ITERATIONS_MIN} to {ITERATIONS_MAX} are accepted"
            )
        salted = self._salted_passwords.get(self._digest, self._password, salt, iterations)
        without_proof = b"c=" + base64.b64encode(NO_BINDING) + b",r=" + nonce.encode()
        signed = b",".join((self._first_bare, challenge, without_proof))
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._digest, client_key).digest(), signed)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), signed)
        return without_proof + b",p=" + base64.b64encode(proof)

    def _hmac(self, key: bytes, text: bytes) -> bytes:
        return hmac.digest(key, text, self._digest)


def _name(username: str) -> str:
    return username.replace("=", "=3D").replace(",", "=2C")


def _fields(message: bytes) -> dict[str, str]:
    try:
        text = message.decode()
    except UnicodeDecodeError:
        raise SaslError("a message of the broker's SCRAM is not UTF-8") from None
    return {part[0]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _decode_field(fields: dict[str, str], name: str) -> bytes:
    try:
        value = base64.b64decode(fields[name], validate=True)
    except (KeyError, ValueError, binascii.Error):
        value = b""
    if not value:
        raise SaslError(f"a message of the broker's SCRAM has no base64 value of {name!r}")
    return value
