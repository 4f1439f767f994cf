"""TLS contexts from Kafka's trust and key stores (PEM or PKCS12 files, or PEM text), read again for each link.

A certificate renewed in its file is therefore used from the next connection on. Python loads private keys only from
files. Keys given as text or in a PKCS12 file pass through a file in memory where the system supports it, otherwise
through a temporary file that only the process's user can read; it is deleted before the handshake.
"""

from __future__ import annotations

import os
import re
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kmirror.errors import UsageError
from kmirror.kernel.tls import Store, TlsSettings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
STORE_BYTES_MAX = 16 << 20
JKS_MAGICS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
NEEDS_CRYPTOGRAPHY = "the package cryptography is required for PKCS12 and private keys: pip install 'kmirror[tls]'"
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
LINE = 64
CERTIFICATES = ("CERTIFICATE", "X509 CERTIFICATE")


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return a client context for these settings; UsageError names the faulty store and the correction."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_host
    versions = [VERSIONS[name] for name in settings.protocols]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if settings.trusted is None:
        context.load_default_certs()
    else:
        _load_truststore(context, settings.trusted)
    if settings.own is not None:
        _load_keystore(context, settings.own)
    return context


def _load_truststore(context: ssl.SSLContext, store: Store) -> None:
    if store.kind == "PEM":
        text = store.pem or _pem_file(store, "ssl.truststore")
    else:
        pkcs12 = _pkcs12(store, "ssl.truststore", store.password)
        from cryptography.hazmat.primitives.serialization import Encoding

        found = [each.certificate for each in pkcs12.additional_certs]
        found += [pkcs12.cert.certificate] if pkcs12.cert is not None and pkcs12.key is None else []
        text = "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in found)
    certificates = "".join(block for kind, block in _blocks(text) if kind in CERTIFICATES)
    if not certificates:
        raise UsageError(f"{_store_name(store, 'ssl.truststore')} holds no trusted certificate")
    # As in Java, each certificate in the store is itself trusted: an intermediate authority, or a single broker.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            f"{_store_name(store, 'ssl.truststore')} holds a certificate that cannot be read: {error}"
        ) from None


def _load_keystore(context: ssl.SSLContext, store: Store) -> None:
    password = store.key_password
    if store.kind == "PEM":
        text = _pem_file(store, "ssl.keystore") if store.location else f"{store.key}\n{store.pem}\n"
        text = _check_pem(text, store)
    else:
        text, password = _pem_of_pkcs12(store)
    with _as_file(text) as path:
        _load(context, store, path, password)


def _load(context: ssl.SSLContext, store: Store, path: str, password: str | None) -> None:
    store_name = _store_name(store, "ssl.keystore")

    def get_password() -> str:
        # Without this callback, OpenSSL would prompt on the terminal.
        if password is None:
            raise UsageError(f"the private key of {store_name} is encrypted: set ssl.key.password")
        return password

    try:
        context.load_cert_chain(path, password=get_password)
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            f"the private key of {store_name} cannot be used: a wrong password, or no key of its certificate ({error})"
        ) from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Yield the path of a file with this text; the file exists until the block ends."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("kmirror")
        try:
            with os.fdopen(os.dup(descriptor), "w") as file:
                file.write(text)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.NamedTemporaryFile("w", prefix="kmirror-", suffix=".pem") as temporary:
        temporary.write(text)
        temporary.flush()
        yield temporary.name


def _check_pem(text: str, store: Store) -> str:
    """Return private key and certificate chain in the form that OpenSSL reads."""
    blocks = _blocks(text)
    keys = sum(kind.endswith("PRIVATE KEY") for kind, _ in blocks)
    if keys != 1:
        found = f"{keys} private keys, expected one" if keys else "no private key"
        raise UsageError(f"{_store_name(store, 'ssl.keystore')} holds {found}")
    if not any(kind in CERTIFICATES for kind, _ in blocks):
        raise UsageError(f"{_store_name(store, 'ssl.keystore')} holds no certificate")
    return "".join(block for _, block in blocks)


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return kind and text of each PEM block, with its base64 split into lines.

    OpenSSL needs the lines. Kafka also accepts the value of a properties file, which is often one line with spaces.
    """
    found = []
    for kind, body in _BLOCK.findall(text):
        if _BASE64.fullmatch(body):
            digits = "".join(body.split())
            lines = [digits[at : at + LINE] for at in range(0, len(digits), LINE)]
            body = "".join(f"{line}\n" for line in ["", *lines])
        found.append((kind, f"-----BEGIN {kind}-----{body}-----END {kind}-----\n"))
    return found


def _pem_of_pkcs12(store: Store) -> tuple[str, str]:
    """Return private key and certificate chain in PEM, and the password that encrypts the key there."""
    pkcs12 = _pkcs12(store, "ssl.keystore", store.password)
    if pkcs12.key is None or pkcs12.cert is None:
        raise UsageError(f"{_store_name(store, 'ssl.keystore')} holds no private key with a certificate")
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

    password = secrets.token_urlsafe(24)
    encryption = BestAvailableEncryption(password.encode())
    key = pkcs12.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    chain = [pkcs12.cert.certificate, *(each.certificate for each in pkcs12.additional_certs)]
    return b"".join([key, *(each.public_bytes(Encoding.PEM) for each in chain)]).decode(), password


def _pkcs12(store: Store, key: str, password: str | None) -> PKCS12KeyAndCertificates:
    data = _read(store, key)
    store_name = _store_name(store, key)
    if data[:4] in JKS_MAGICS:
        raise UsageError(
            f"{store_name} is a Java key store, which only Java reads. Convert it: keytool -importkeystore "
            f"-srckeystore {store.location} -destkeystore {store.location}.p12 -deststoretype PKCS12, and set "
            f"{key}.location to that file and {key}.type to PKCS12"
        )
    if data.lstrip().startswith(b"-----BEGIN"):
        raise UsageError(f"{store_name} is PEM and {key}.type is {store.kind}: set it to PEM, without {key}.password")
    try:
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise UsageError(f"{store_name}: {NEEDS_CRYPTOGRAPHY}") from None
    try:
        return load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise UsageError(f"{store_name} is not a PKCS12 file, or {key}.password is wrong") from None


def _pem_file(store: Store, key: str) -> str:
    return _read(store, key).decode("latin-1")


def _read(store: Store, key: str) -> bytes:
    try:
        with Path(store.location).open("rb") as file:
            data = file.read(STORE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid file name"
        raise UsageError(f"{_store_name(store, key)} cannot be read on this broker: {reason}") from None
    if len(data) > STORE_BYTES_MAX:
        raise UsageError(f"{_store_name(store, key)} is larger than {STORE_BYTES_MAX} bytes, the limit for a store")
    return data


def _store_name(store: Store, key: str) -> str:
    return f"{key}.location {store.location}" if store.location else f"{key} in PEM"


def handshake_error_text(error: ssl.SSLError) -> str:
    """Return the reason for a failed handshake, without the source locations in OpenSSL's text."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the broker's certificate is not trusted: {error.verify_message}"
    reason = (error.reason or str(error)).replace("_", " ").lower()
    return f"TLS: {reason}"
