"""Security of connections to a cluster: `security.protocol` and related keys of a client's configs.

Values are read as in Kafka's clients of 4.3, passwords too: without surrounding blanks. Keys of `sasl.*` and `ssl.*`
without an effect here are ignored if a connection is as safe without them, such as names of Java's providers or how
tokens are refreshed, and rejected if not. Keys of protocols that are not in use are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmirror.client.jaas import parse_jaas
from kmirror.client.sasl import PLAIN, Mechanism, PlainClient
from kmirror.client.scram import HASHES, SaltedPasswords, ScramClient
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.tls import Store, TlsSettings
from kmirror.spec.configs.lists import BLANKS, split_entries
from kmirror.spec.configs.rules import PROTOCOLS as SECURITY_PROTOCOLS
from kmirror.spec.wire_values import SecurityProtocol

MECHANISMS = (PLAIN, *HASHES)
PROTOCOLS = ("TLSv1.2", "TLSv1.3")
OBSOLETE_PROTOCOLS = ("SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
"""Protocols that a current JVM knows and never uses: properties written for Kafka before 2.5 name some of them."""
STORE_TYPES = ("JKS", "PKCS12", "PEM")
PACKAGE = "org.apache.kafka.common.security"
SCRAM_MODULE = f"{PACKAGE}.scram.ScramLoginModule"
LOGIN_MODULES = {f"{PACKAGE}.plain.PlainLoginModule": (PLAIN,), SCRAM_MODULE: MECHANISMS}
"""Login module to the mechanisms that it supports."""
UNSUPPORTED_TLS_KEYS = {
    "ssl.cipher.suites": "",
    "ssl.engine.factory.class": f"{PACKAGE}.ssl.DefaultSslEngineFactory",
    "security.providers": "",
}
UNSUPPORTED_SASL_KEYS = {
    "sasl.client.callback.handler.class": f"{PACKAGE}.authenticator.SaslClientCallbackHandler",
    "sasl.login.callback.handler.class": "",
    "sasl.login.class": f"{PACKAGE}.authenticator.DefaultLogin",
}
"""Keys that would change trust or login, but need a JVM's code or names, with their defaults."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Our identity to a broker; one object for all connections of one set of configs."""

    mechanism: str
    username: str
    password: str = field(repr=False)
    is_token: bool = False
    """Name and password are a delegation token's id and HMAC (`tokenauth`)."""
    salted_passwords: SaltedPasswords = field(default_factory=SaltedPasswords, repr=False, compare=False)

    def begin(self, nonce: str) -> Mechanism:
        """Return a new exchange; `nonce` is printable ASCII without a comma."""
        if self.mechanism == PLAIN:
            return PlainClient(self.username, self.password)
        return ScramClient(
            self.mechanism,
            self.username,
            self.password,
            nonce,
            is_token=self.is_token,
            salted_passwords=self.salted_passwords,
        )


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """Security settings of connections to a cluster: `tls`, `credentials`, or both are set."""

    protocol: str
    tls: TlsSettings | None
    credentials: Credentials | None


def security_of(configs: Mapping[str, str]) -> SecuritySettings | None:
    """Return the security of a client's configs, None for plain connections; UsageError names the key and its remedy.

    No error shows the value of a key that may be secret.
    """
    values = {name: value.strip(BLANKS) for name, value in arguments.configs(configs).items()}
    protocol = values.get("security.protocol", SecurityProtocol.PLAINTEXT.name).upper()
    if protocol == SecurityProtocol.PLAINTEXT.name:
        return None
    if protocol not in SECURITY_PROTOCOLS:
        raise UsageError(f"security.protocol must be one of {', '.join(SECURITY_PROTOCOLS)}")
    tls = _tls(values) if protocol.endswith("SSL") else None
    return SecuritySettings(protocol, tls, _credentials(values, protocol) if protocol.startswith("SASL") else None)


def _credentials(values: Mapping[str, str], protocol: str) -> Credentials:
    _reject_unsupported(values, UNSUPPORTED_SASL_KEYS)
    mechanism = values.get("sasl.mechanism", "")
    if mechanism not in MECHANISMS:
        problem = f"sasl.mechanism {mechanism} is not supported" if mechanism else "sasl.mechanism is not set"
        raise UsageError(f"security.protocol is {protocol} and {problem}: set it to one of {', '.join(MECHANISMS)}")
    if not values.get("sasl.jaas.config"):
        raise UsageError(f"security.protocol is {protocol} and sasl.jaas.config is not set: name login module and user")
    try:
        module = parse_jaas(values["sasl.jaas.config"])
    except UsageError as error:
        raise UsageError(f"sasl.jaas.config: {error}") from None
    mechanisms = LOGIN_MODULES.get(module.name, ())
    if not mechanisms:
        names = ", ".join(LOGIN_MODULES)
        raise UsageError(f"sasl.jaas.config: login module {module.name} is not supported; use one of {names}")
    module_name = module.name.rpartition(".")[2]
    if mechanism not in mechanisms:
        raise UsageError(
            f"sasl.jaas.config: {module_name} does not support {mechanism}, which is sasl.mechanism: use {SCRAM_MODULE}"
        )
    missing = [name for name in ("username", "password") if name not in module.options]
    if missing:
        raise UsageError(f"sasl.jaas.config: the options of {module_name} lack {' and '.join(missing)}")
    username, password = module.options["username"], module.options["password"]
    if mechanism == PLAIN and "\0" in username + password:
        raise UsageError("sasl.jaas.config: PLAIN cannot carry a username or a password with a NUL character")
    if any(0xD800 <= ord(char) < 0xE000 for char in username + password):
        raise UsageError("sasl.jaas.config: username or password is not valid Unicode")
    is_token = mechanism != PLAIN and module.options.get("tokenauth", "").lower() == "true"
    return Credentials(mechanism, username, password, is_token)


def _tls(values: Mapping[str, str]) -> TlsSettings:
    _reject_unsupported(values, UNSUPPORTED_TLS_KEYS)
    algorithm = values.get("ssl.endpoint.identification.algorithm", "https").lower()
    if algorithm not in ("", "https"):
        raise UsageError("ssl.endpoint.identification.algorithm must be https, or empty to accept any host name")
    return TlsSettings(_truststore(values), _keystore(values), algorithm == "https", _protocols(values))


def _protocols(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the TLS versions that may be used: those in `ssl.enabled.protocols` up to `ssl.protocol`."""
    newest = values.get("ssl.protocol", "TLSv1.3")
    if newest in ("TLS", "SSL"):  # Both names include all protocols of a JVM.
        newest = PROTOCOLS[-1]
    if newest not in PROTOCOLS:
        raise UsageError(f"ssl.protocol must be one of TLS, {', '.join(PROTOCOLS)}")
    enabled = split_entries(values.get("ssl.enabled.protocols", "")) or list(PROTOCOLS)
    if any(entry not in PROTOCOLS + OBSOLETE_PROTOCOLS for entry in enabled):
        raise UsageError(f"ssl.enabled.protocols must be one or more of {', '.join(PROTOCOLS)}")
    usable = tuple(entry for entry in PROTOCOLS if entry in enabled and entry <= newest)
    if not usable:
        problem = f"ssl.protocol is {newest} and " if PROTOCOLS[-1] in enabled else ""
        raise UsageError(f"{problem}ssl.enabled.protocols has no supported version: use one of {', '.join(PROTOCOLS)}")
    return usable


def _truststore(values: Mapping[str, str]) -> Store | None:
    location, kind, password = _file(values, "ssl.truststore", "ssl.truststore.certificates")
    pem = values.get("ssl.truststore.certificates", "")
    if pem and location:
        raise UsageError("ssl.truststore.location and ssl.truststore.certificates are both set: leave one of them out")
    if pem and kind != "PEM":
        raise UsageError(f"ssl.truststore.certificates are PEM and ssl.truststore.type is {kind}: set it to PEM")
    if password is not None and (kind == "PEM" or not location):
        raise UsageError("ssl.truststore.password is for a file of type PKCS12: leave it out")
    return Store(kind, location, pem, password=password) if pem or location else None


def _keystore(values: Mapping[str, str]) -> Store | None:
    location, kind, password = _file(values, "ssl.keystore", "ssl.keystore.key", "ssl.keystore.certificate.chain")
    key, chain = values.get("ssl.keystore.key", ""), values.get("ssl.keystore.certificate.chain", "")
    if location and (key or chain):
        raise UsageError(
            "ssl.keystore.location and ssl.keystore.key or ssl.keystore.certificate.chain are both set: leave one out"
        )
    if bool(key) != bool(chain):
        missing_key = "ssl.keystore.certificate.chain" if key else "ssl.keystore.key"
        raise UsageError(f"{missing_key} is not set: private key and certificate chain go together")
    if key and kind != "PEM":
        raise UsageError(f"ssl.keystore.key is PEM and ssl.keystore.type is {kind}: set it to PEM")
    if password is not None and (kind == "PEM" or not location):
        raise UsageError("ssl.keystore.password is for a file of type PKCS12; ssl.key.password is that of a PEM key")
    if location and kind != "PEM" and password is None:
        raise UsageError("ssl.keystore.location is set and ssl.keystore.password is not: set it")
    key_password = values.get("ssl.key.password")
    return Store(kind, location, chain, key, password, key_password) if key or location else None


def _file(values: Mapping[str, str], prefix: str, *texts: str) -> tuple[str, str, str | None]:
    """Return location, type and password of a store; `texts` are the keys that may replace the location.

    Empty values are rejected: they would mean the system's trusted certificates, or no certificate, which was not
    intended.
    """
    for name in (f"{prefix}.location", *texts):
        if values.get(name) == "":
            raise UsageError(f"{name} is empty: set it or leave it out")
    kind = values.get(f"{prefix}.type", "JKS").upper()
    if kind not in STORE_TYPES:
        raise UsageError(f"{prefix}.type must be one of {', '.join(STORE_TYPES)}")
    return values.get(f"{prefix}.location", ""), kind, values.get(f"{prefix}.password")


def _reject_unsupported(values: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    for name, default in defaults.items():
        if values.get(name, "") not in ("", default):
            raise UsageError(
                f"{name} has no effect here, and connections would be less secure than configured: remove it"
            )
