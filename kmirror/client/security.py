"""How is a connection to a cluster secured? `security.protocol` and what belongs to it, from a client's configs.

What of Kafka's `sasl.*` and `ssl.*` changes nothing here is let be if a connection is as safe without it, such as names
of Java's providers, and refused if not. Keys of a protocol that is not chosen are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmirror.client.jaas import parse_jaas
from kmirror.client.sasl import PLAIN, Mechanism, PlainClient
from kmirror.client.scram import HASHES, SaltedPasswords, ScramClient
from kmirror.errors import UsageError
from kmirror.kernel.tls import Store, TlsSettings

MECHANISMS = (PLAIN, *HASHES)
PROTOCOLS = ("TLSv1.2", "TLSv1.3")
STORE_TYPES = ("JKS", "PKCS12", "PEM")
LOGIN_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": "PlainLoginModule",
    "org.apache.kafka.common.security.scram.ScramLoginModule": "ScramLoginModule",
}
WITHOUT_EFFECT_TLS = ("ssl.cipher.suites", "ssl.engine.factory.class", "security.providers")
WITHOUT_EFFECT_SASL = ("sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class")
"""What would change who is trusted or how one logs in, and is code of a JVM or named in its terms."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are to a broker; one object for all connections of one set of configs."""

    mechanism: str
    username: str
    password: str = field(repr=False)
    is_token: bool = False
    """Name and password are a delegation token's id and HMAC (`tokenauth`)."""
    salted: SaltedPasswords = field(default_factory=SaltedPasswords, repr=False, compare=False)

    def begin(self, nonce: str) -> Mechanism:
        """Return a new exchange; `nonce` is printable ASCII without a comma."""
        if self.mechanism == PLAIN:
            return PlainClient(self.username, self.password)
        return ScramClient(
            self.mechanism, self.username, self.password, nonce, is_token=self.is_token, salted=self.salted
        )


@dataclass(frozen=True, slots=True)
class Security:
    """How connections are secured: at least one of `tls` and `credentials` is there."""

    protocol: str
    tls: TlsSettings | None
    credentials: Credentials | None


def security_of(configs: Mapping[str, str]) -> Security | None:
    """Return what a client's configs say, None for plain connections; UsageError names the key and what to set.

    No error shows the value of a key that may be secret.
    """
    protocol = configs.get("security.protocol", "PLAINTEXT").strip()
    if protocol == "PLAINTEXT":
        return None
    if protocol not in ("SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        raise UsageError("security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
    tls = _tls(configs) if protocol.endswith("SSL") else None
    return Security(protocol, tls, _credentials(configs, protocol) if protocol.startswith("SASL") else None)


def _credentials(configs: Mapping[str, str], protocol: str) -> Credentials:
    _refuse_set(configs, WITHOUT_EFFECT_SASL)
    mechanism = configs.get("sasl.mechanism", "").strip()
    if mechanism not in MECHANISMS:
        said = f"sasl.mechanism {mechanism} is not there" if mechanism else "sasl.mechanism is not set"
        raise UsageError(f"security.protocol is {protocol} and {said}: set it to one of {', '.join(MECHANISMS)}")
    if not configs.get("sasl.jaas.config", "").strip():
        raise UsageError(f"security.protocol is {protocol} and sasl.jaas.config is not set: name login module and user")
    try:
        module = parse_jaas(configs["sasl.jaas.config"])
    except UsageError as error:
        raise UsageError(f"sasl.jaas.config: {error}") from None
    if module.name not in LOGIN_MODULES:
        names = ", ".join(LOGIN_MODULES)
        raise UsageError(f"sasl.jaas.config: login module {module.name} is not there; use one of {names}")
    missing = [name for name in ("username", "password") if name not in module.options]
    if missing:
        raise UsageError(f"sasl.jaas.config: the options of {LOGIN_MODULES[module.name]} lack {' and '.join(missing)}")
    username, password = module.options["username"], module.options["password"]
    if mechanism == PLAIN and "\0" in username + password:
        raise UsageError("sasl.jaas.config: PLAIN cannot carry a username or a password with a NUL character")
    if any(0xD800 <= ord(char) < 0xE000 for char in username + password):
        raise UsageError("sasl.jaas.config: username or password is no text of Unicode characters")
    is_token = mechanism != PLAIN and module.options.get("tokenauth", "").lower() == "true"
    return Credentials(mechanism, username, password, is_token)


def _tls(configs: Mapping[str, str]) -> TlsSettings:
    _refuse_set(configs, WITHOUT_EFFECT_TLS)
    algorithm = configs.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    if algorithm not in ("", "https"):
        raise UsageError("ssl.endpoint.identification.algorithm must be https, or empty to accept any host name")
    protocols = tuple(
        entry.strip() for entry in configs.get("ssl.enabled.protocols", ",".join(PROTOCOLS)).split(",") if entry.strip()
    )
    if not protocols or any(entry not in PROTOCOLS for entry in protocols):
        raise UsageError(f"ssl.enabled.protocols must be one or more of {', '.join(PROTOCOLS)}")
    if configs.get("ssl.protocol", "TLS").strip() not in ("TLS", *PROTOCOLS):
        raise UsageError(f"ssl.protocol must be one of TLS, {', '.join(PROTOCOLS)}")
    return TlsSettings(_trusted(configs), _own(configs), algorithm == "https", protocols)


def _trusted(configs: Mapping[str, str]) -> Store | None:
    location, kind, password = _file(configs, "ssl.truststore")
    pem = configs.get("ssl.truststore.certificates", "")
    if pem and location:
        raise UsageError("ssl.truststore.location and ssl.truststore.certificates are both set: leave one of them out")
    if pem and kind != "PEM":
        raise UsageError(f"ssl.truststore.certificates are PEM and ssl.truststore.type is {kind}: set it to PEM")
    if password is not None and (kind == "PEM" or not location):
        raise UsageError("ssl.truststore.password is for a file of type PKCS12: leave it out")
    return Store(kind, location, pem, password=password) if pem or location else None


def _own(configs: Mapping[str, str]) -> Store | None:
    location, kind, password = _file(configs, "ssl.keystore")
    key, chain = configs.get("ssl.keystore.key", ""), configs.get("ssl.keystore.certificate.chain", "")
    if location and (key or chain):
        raise UsageError(
            "ssl.keystore.location and ssl.keystore.key or ssl.keystore.certificate.chain are both set: leave one out"
        )
    if bool(key) != bool(chain):
        lacks = "ssl.keystore.certificate.chain" if key else "ssl.keystore.key"
        raise UsageError(f"{lacks} is not set: private key and certificate chain go together")
    if key and kind != "PEM":
        raise UsageError(f"ssl.keystore.key is PEM and ssl.keystore.type is {kind}: set it to PEM")
    if password is not None and (kind == "PEM" or not location):
        raise UsageError("ssl.keystore.password is for a file of type PKCS12; ssl.key.password is that of a PEM key")
    if location and kind != "PEM" and password is None:
        raise UsageError("ssl.keystore.location is set and ssl.keystore.password is not: set it")
    key_password = configs.get("ssl.key.password")
    return Store(kind, location, chain, key, password, key_password) if key or location else None


def _file(configs: Mapping[str, str], prefix: str) -> tuple[str, str, str | None]:
    """Return location, type and password of a store."""
    kind = configs.get(f"{prefix}.type", "JKS").strip().upper()
    if kind not in STORE_TYPES:
        raise UsageError(f"{prefix}.type must be one of {', '.join(STORE_TYPES)}")
    return configs.get(f"{prefix}.location", "").strip(), kind, configs.get(f"{prefix}.password")


def _refuse_set(configs: Mapping[str, str], names: tuple[str, ...]) -> None:
    for name in names:
        if configs.get(name, "").strip():
            raise UsageError(f"{name} has no effect here, and a connection would be less safe than it says: unset it")
