"""Certificates for TLS tests: an authority and the identities it issues. The keys are for tests only."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

# Fixed dates: a certificate is valid or expired in every run.
EVER = (datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2200, 1, 1, tzinfo=datetime.UTC))
LONG_AGO = (datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC))
Key = ec.EllipticCurvePrivateKey
Validity = tuple[datetime.datetime, datetime.datetime]


@dataclass(frozen=True)
class Identity:
    """Certificate with its key, issued by `issuer`."""

    key: Key
    certificate: x509.Certificate
    issuer: x509.Certificate

    @property
    def chain_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(self, password: str | None = None) -> str:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password)).decode()

    def pkcs12(self, password: str) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"it", self.key, self.certificate, [self.issuer], _encryption(password)
        )

    def write_pem(self, path: Path) -> Path:
        """Write key and chain into one file, as in Kafka's PEM key stores."""
        path.write_text(self.key_pem() + self.chain_pem)
        return path


class Authority:
    """Certificate authority."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self.certificate = (
            _builder(self._name, self._name, self._key, EVER)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, SHA256())
        )

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def pkcs12(self, password: str) -> bytes:
        """Return a trust store."""
        entry = pkcs12.PKCS12Certificate(self.certificate, b"authority")
        return pkcs12.serialize_java_truststore([entry], _encryption(password))

    def issue(self, name: str, *hosts: str, validity: Validity = EVER) -> Identity:
        """Return an identity whose certificate names `hosts`, which are names or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_named(name), self._name, key, validity)
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(authority, critical=False)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_host, hosts))), critical=False)
        return Identity(key, builder.sign(self._key, SHA256()), self.certificate)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _builder(name: x509.Name, issuer: x509.Name, key: Key, validity: Validity) -> x509.CertificateBuilder:
    begin, end = validity
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _encryption(password: str | None) -> KeySerializationEncryption:
    return NoEncryption() if password is None else BestAvailableEncryption(password.encode())
