"""Config keys of authentication, encryption and authorization."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
UNSERVED = "listeners have no TLS, no SASL and no delegation tokens"
"""Why a key of security has no effect."""
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "allow.everyone.if.no.acl.found", _B, Kind.BOOLEAN, "false", internal=True,
        doc="Whether all principals have all rights to a resource that has no ACL.",
    ),
    ConfigKey(
        "authorizer.class.name", _B, Kind.STRING, "", choices=("", STANDARD_AUTHORIZER),
        doc="The class that is asked for rights: Kafka's, which obeys the ACLs of the metadata log; none if empty.",
    ),
    ConfigKey("config.providers", _B, Kind.LIST, "", dynamic=True, no_effect=UNSERVED),
    ConfigKey("connection.failed.authentication.delay.ms", _B, Kind.INT, "100", minimum=0, no_effect=UNSERVED),
    ConfigKey("connections.max.reauth.ms", _B, Kind.LONG, "0", no_effect=UNSERVED),
    ConfigKey("delegation.token.expiry.check.interval.ms", _B, Kind.LONG, "3600000", minimum=1, no_effect=UNSERVED),
    ConfigKey("delegation.token.expiry.time.ms", _B, Kind.LONG, "86400000", minimum=1, no_effect=UNSERVED),
    ConfigKey("delegation.token.max.lifetime.ms", _B, Kind.LONG, "604800000", minimum=1, no_effect=UNSERVED),
    ConfigKey("delegation.token.secret.key", _B, Kind.PASSWORD, None, no_effect=UNSERVED),
    ConfigKey(
        "inter.broker.listener.name", _B, Kind.STRING, None,
        doc="The name of the listeners at which brokers speak to each other.",
    ),
    ConfigKey(
        "principal.builder.class", _B, Kind.CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", dynamic=True, no_effect=UNSERVED,
    ),
    ConfigKey("sasl.client.callback.handler.class", _B, Kind.CLASS, None, no_effect=UNSERVED),
    ConfigKey("sasl.enabled.mechanisms", _B, Kind.LIST, "GSSAPI", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.jaas.config", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.kinit.cmd", _B, Kind.STRING, "/usr/bin/kinit", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.min.time.before.relogin", _B, Kind.LONG, "60000", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.principal.to.local.rules", _B, Kind.LIST, "DEFAULT", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.service.name", _B, Kind.STRING, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.ticket.renew.jitter", _B, Kind.DOUBLE, "0.05", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.kerberos.ticket.renew.window.factor", _B, Kind.DOUBLE, "0.8", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.login.callback.handler.class", _B, Kind.CLASS, None, no_effect=UNSERVED),
    ConfigKey("sasl.login.class", _B, Kind.CLASS, None, no_effect=UNSERVED),
    ConfigKey("sasl.login.connect.timeout.ms", _B, Kind.INT, None, no_effect=UNSERVED),
    ConfigKey("sasl.login.read.timeout.ms", _B, Kind.INT, None, no_effect=UNSERVED),
    ConfigKey("sasl.login.refresh.buffer.seconds", _B, Kind.SHORT, "300", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.login.refresh.min.period.seconds", _B, Kind.SHORT, "60", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.login.refresh.window.factor", _B, Kind.DOUBLE, "0.8", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.login.refresh.window.jitter", _B, Kind.DOUBLE, "0.05", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.login.retry.backoff.max.ms", _B, Kind.LONG, "10000", no_effect=UNSERVED),
    ConfigKey("sasl.login.retry.backoff.ms", _B, Kind.LONG, "100", no_effect=UNSERVED),
    ConfigKey("sasl.mechanism.controller.protocol", _B, Kind.STRING, "GSSAPI", no_effect=UNSERVED),
    ConfigKey("sasl.mechanism.inter.broker.protocol", _B, Kind.STRING, "GSSAPI", dynamic=True, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.algorithm", _B, Kind.STRING, "RS256", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.claim.aud", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey(
        "sasl.oauthbearer.assertion.claim.exp.seconds", _B, Kind.INT, "300", minimum=0, maximum=86400,
        no_effect=UNSERVED,
    ),
    ConfigKey("sasl.oauthbearer.assertion.claim.iss", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.claim.jti.include", _B, Kind.BOOLEAN, "false", no_effect=UNSERVED),
    ConfigKey(
        "sasl.oauthbearer.assertion.claim.nbf.seconds", _B, Kind.INT, "60", minimum=0, maximum=3600, no_effect=UNSERVED,
    ),
    ConfigKey("sasl.oauthbearer.assertion.claim.sub", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.file", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.private.key.file", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.private.key.passphrase", _B, Kind.PASSWORD, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.assertion.template.file", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.client.credentials.client.id", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.client.credentials.client.secret", _B, Kind.PASSWORD, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.clock.skew.seconds", _B, Kind.INT, "30", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.expected.audience", _B, Kind.LIST, "", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.expected.issuer", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.jwks.endpoint.refresh.ms", _B, Kind.LONG, "3600000", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", _B, Kind.LONG, "10000", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", _B, Kind.LONG, "100", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.jwks.endpoint.url", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey(
        "sasl.oauthbearer.jwt.retriever.class", _B, Kind.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", no_effect=UNSERVED,
    ),
    ConfigKey(
        "sasl.oauthbearer.jwt.validator.class", _B, Kind.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", no_effect=UNSERVED,
    ),
    ConfigKey("sasl.oauthbearer.scope", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.scope.claim.name", _B, Kind.STRING, "scope", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.sub.claim.name", _B, Kind.STRING, "sub", no_effect=UNSERVED),
    ConfigKey("sasl.oauthbearer.token.endpoint.url", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("sasl.server.callback.handler.class", _B, Kind.CLASS, None, no_effect=UNSERVED),
    ConfigKey("sasl.server.max.receive.size", _B, Kind.INT, "524288", no_effect=UNSERVED),
    ConfigKey(
        "security.inter.broker.protocol", _B, Kind.STRING, "PLAINTEXT",
        choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        doc="The name of these listeners where inter.broker.listener.name does not say it.",
    ),
    ConfigKey("security.providers", _B, Kind.STRING, None, no_effect=UNSERVED),
    ConfigKey("ssl.allow.dn.changes", _B, Kind.BOOLEAN, "false", no_effect=UNSERVED),
    ConfigKey("ssl.allow.san.changes", _B, Kind.BOOLEAN, "false", no_effect=UNSERVED),
    ConfigKey("ssl.cipher.suites", _B, Kind.LIST, "", dynamic=True, no_effect=UNSERVED),
    ConfigKey(
        "ssl.client.auth", _B, Kind.STRING, "none", choices=("required", "requested", "none"), dynamic=True,
        no_effect=UNSERVED,
    ),
    ConfigKey("ssl.enabled.protocols", _B, Kind.LIST, "TLSv1.2,TLSv1.3", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.endpoint.identification.algorithm", _B, Kind.STRING, "https", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.engine.factory.class", _B, Kind.CLASS, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.key.password", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keymanager.algorithm", _B, Kind.STRING, "SunX509", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keystore.certificate.chain", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keystore.key", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keystore.location", _B, Kind.STRING, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keystore.password", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.keystore.type", _B, Kind.STRING, "JKS", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.principal.mapping.rules", _B, Kind.STRING, "DEFAULT", no_effect=UNSERVED),
    ConfigKey("ssl.protocol", _B, Kind.STRING, "TLSv1.3", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.provider", _B, Kind.STRING, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.secure.random.implementation", _B, Kind.STRING, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.trustmanager.algorithm", _B, Kind.STRING, "PKIX", dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.truststore.certificates", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.truststore.location", _B, Kind.STRING, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.truststore.password", _B, Kind.PASSWORD, None, dynamic=True, no_effect=UNSERVED),
    ConfigKey("ssl.truststore.type", _B, Kind.STRING, "JKS", dynamic=True, no_effect=UNSERVED),
    ConfigKey(
        "super.users", _B, Kind.STRING, "", internal=True,
        doc="The principals that may do everything, separated by semicolons.",
    ),
)
# fmt: on
