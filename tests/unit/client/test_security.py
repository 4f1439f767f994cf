"""Configs that secure a connection, configs that are refused, and no output of secrets."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.client.security import Credentials, security_of
from kmirror.errors import UsageError
from kmirror.kernel.tls import Store, TlsSettings

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
JAAS = f'{SCRAM} required username="u" password="hush";'
SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": JAAS}
SSL = {"security.protocol": "SSL"}
PEM_KEY = {"ssl.keystore.type": "PEM", "ssl.keystore.key": "hush", "ssl.keystore.certificate.chain": "chain"}


def test_plain_connections_ignore_the_rest() -> None:
    assert security_of({}) is None
    assert (
        security_of({"security.protocol": " PLAINTEXT ", "sasl.jaas.config": "x", "ssl.truststore.type": "x"}) is None
    )


def test_sasl() -> None:
    security = security_of(SASL)
    assert security is not None and security.tls is None
    assert security.credentials == Credentials("SCRAM-SHA-256", "u", "hush")
    token = security_of(SASL | {"sasl.jaas.config": JAAS.replace(";", " tokenauth=true;")})
    assert token is not None and token.credentials is not None and token.credentials.is_token
    assert security_of(SASL | {"security.protocol": "SASL_SSL"}) is not None


def test_tls() -> None:
    security = security_of(SSL)
    assert security is not None and security.credentials is None and security.tls == TlsSettings()
    configs = (
        SSL
        | PEM_KEY
        | {
            "ssl.truststore.location": "/t.p12",
            "ssl.truststore.type": "pkcs12",
            "ssl.truststore.password": "hush",
            "ssl.key.password": "hush",
            "ssl.endpoint.identification.algorithm": "",
            "ssl.enabled.protocols": "TLSv1.3",
            "ssl.provider": "SunJSSE",
        }
    )
    security = security_of(configs)
    assert security is not None and security.tls == TlsSettings(
        Store("PKCS12", "/t.p12", password="hush"),
        Store("PEM", pem="chain", key="hush", key_password="hush"),
        checks_host=False,
        protocols=("TLSv1.3",),
    )


def test_values_are_read_as_by_kafka() -> None:
    """Without surrounding blanks, even in passwords; the protocol in any case; defaults may be given explicitly."""
    package = "org.apache.kafka.common.security"
    found = security_of(
        {
            "security.protocol": " sasl_ssl\n",
            "sasl.mechanism": " PLAIN ",
            "sasl.jaas.config": f'\t{SCRAM} required username="u" password=" hush ";\n',
            "sasl.login.class": f"{package}.authenticator.DefaultLogin",
            "sasl.login.refresh.window.factor": "0.8",
            "ssl.engine.factory.class": f"{package}.ssl.DefaultSslEngineFactory",
            "ssl.endpoint.identification.algorithm": " HTTPS ",
            "ssl.truststore.location": " /t.p12 ",
            "ssl.truststore.password": " hush\u00a0",
        }
    )
    assert found is not None and found.protocol == "SASL_SSL"
    assert found.credentials == Credentials("PLAIN", "u", " hush ")
    assert found.tls == TlsSettings(Store("JKS", "/t.p12", password="hush\u00a0"))


@pytest.mark.parametrize(
    ("protocol", "enabled", "spoken"),
    [
        (None, None, ("TLSv1.2", "TLSv1.3")),
        ("TLSv1.3", "TLSv1.3,TLSv1.2", ("TLSv1.2", "TLSv1.3")),
        ("TLSv1.3", "", ("TLSv1.2", "TLSv1.3")),
        ("TLSv1.2", "TLSv1.2,TLSv1.3", ("TLSv1.2",)),
        ("TLSv1.2", "", ("TLSv1.2",)),
        ("TLS", "TLSv1.2, TLSv1.1 ,TLSv1", ("TLSv1.2",)),
        ("SSL", "TLSv1.2,TLSv1.2,TLSv1.3", ("TLSv1.2", "TLSv1.3")),
    ],
)
def test_protocols_are_those_that_a_jvm_offers(protocol: str | None, enabled: str | None, spoken: tuple[str]) -> None:
    """Expected are the versions in the ClientHello of kafka-clients 4.3.1 on Java 17."""
    values = {"ssl.protocol": protocol, "ssl.enabled.protocols": enabled}
    found = security_of(SSL | {name: value for name, value in values.items() if value is not None})
    assert found is not None and found.tls is not None and found.tls.protocols == spoken


@pytest.mark.parametrize(
    ("configs", "words"),
    [
        ({"security.protocol": "TLS"}, "security.protocol must be one of"),
        ({"ssl.key.password": b"hush"}, r"configs\['ssl.key.password'\] must be a string, not bytes"),
        (SSL | {"ssl.key.password": None}, r"configs\['ssl.key.password'\] must be a string, not None"),
        (SASL | {"sasl.mechanism": "GSSAPI"}, "sasl.mechanism GSSAPI is not supported: set it to one of PLAIN, SCRAM"),
        ({k: v for k, v in SASL.items() if k != "sasl.mechanism"}, "sasl.mechanism is not set"),
        ({k: v for k, v in SASL.items() if k != "sasl.jaas.config"}, "sasl.jaas.config is not set"),
        (SASL | {"sasl.jaas.config": JAAS[:-1]}, "sasl.jaas.config: .*semi-colon"),
        (SASL | {"sasl.jaas.config": "a.Krb5LoginModule required;"}, "login module a.Krb5LoginModule is not supported"),
        (SASL | {"sasl.jaas.config": f"{SCRAM} required password=hush;"}, "ScramLoginModule lack username"),
        (SASL | {"sasl.jaas.config": f"{SCRAM} required;"}, "lack username and password"),
        (SASL | {"sasl.mechanism": "scram-sha-256"}, "sasl.mechanism scram-sha-256 is not supported"),
        (
            SASL | {"sasl.jaas.config": f'{PLAIN} required username=u password="hush";'},
            "PlainLoginModule does not support SCRAM-SHA-256",
        ),
        (SASL | {"sasl.login.class": "x"}, "sasl.login.class has no effect here"),
        (
            SASL | {"sasl.mechanism": "PLAIN", "sasl.jaas.config": f'{PLAIN} required username=u password="hush\\0";'},
            "NUL",
        ),
        (SSL | {"ssl.endpoint.identification.algorithm": "ldaps"}, "https, or empty"),
        (SSL | {"ssl.enabled.protocols": "tlsv1.2"}, "ssl.enabled.protocols must be"),
        (SSL | {"ssl.enabled.protocols": "TLSv1.1,TLSv1"}, "ssl.enabled.protocols has no supported version"),
        (
            SSL | {"ssl.enabled.protocols": "TLSv1.3", "ssl.protocol": "TLSv1.2"},
            "ssl.protocol is TLSv1.2 and ssl.enabled.protocols has no supported version",
        ),
        (SSL | {"ssl.protocol": "SSLv3"}, "ssl.protocol must be"),
        (SSL | {"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"}, "ssl.cipher.suites has no effect"),
        (SSL | {"ssl.truststore.type": "BKS"}, "ssl.truststore.type must be"),
        (SSL | {"ssl.truststore.certificates": "hush"}, "ssl.truststore.type is JKS: set it to PEM"),
        (SSL | {"ssl.truststore.certificates": "hush", "ssl.truststore.location": "/t"}, "both set"),
        (SSL | {"ssl.truststore.certificates": " \n"}, "ssl.truststore.certificates is empty: set it or leave it out"),
        (SSL | {"ssl.truststore.location": ""}, "ssl.truststore.location is empty"),
        (SSL | {"ssl.keystore.key": ""}, "ssl.keystore.key is empty"),
        (SSL | {"ssl.engine.factory.class": "a.B"}, "ssl.engine.factory.class has no effect"),
        (SSL | {"ssl.truststore.password": "hush"}, "leave it out"),
        (SSL | {"ssl.keystore.location": "/k"}, "ssl.keystore.password is not: set it"),
        (
            SSL | {"ssl.keystore.location": "/k", "ssl.keystore.type": "PEM", "ssl.keystore.password": "hush"},
            "ssl.key.p",
        ),
        (SSL | PEM_KEY | {"ssl.keystore.type": "PKCS12"}, "ssl.keystore.type is PKCS12: set it to PEM"),
        (SSL | PEM_KEY | {"ssl.keystore.location": "/k"}, "both set"),
        (SSL | {"ssl.keystore.type": "PEM", "ssl.keystore.key": "hush"}, "chain is not set"),
        (SSL | {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": "hush"}, "key is not set"),
    ],
)
def test_invalid_configs_are_refused_with_key_and_fix(configs: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        security_of(configs)
    assert "hush" not in str(caught.value)


def test_nothing_shows_a_secret() -> None:
    every = (
        SASL
        | PEM_KEY
        | {
            "security.protocol": "SASL_SSL",
            "ssl.key.password": "hush",
            "ssl.truststore.location": "/t",
            "ssl.truststore.password": "hush",
        }
    )
    security = security_of(every)
    assert security is not None and security.credentials is not None
    assert "hush" not in repr(security) and "'u'" in repr(security)
    exchange = security.credentials.begin("abc")
    exchange.first()
    assert "hush" not in repr(exchange)
