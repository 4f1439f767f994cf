"""pytest has kmirror's fixtures, with options by a marker, and prints the states of clusters with a failure."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]


def run(pytester: pytest.Pytester, program: str) -> pytest.RunResult:
    """Run a file of tests; the plugin is given explicitly only if kmirror's own entry point has not loaded it."""
    pytester.makepyfile(program)
    named = [] if entry_points(group="pytest11", name="kmirror") else ["-p", "kmirror.testing.pytest_plugin"]
    return pytester.runpytest_inprocess(*named, "--strict-markers", "-W", "error")


def test_the_plugin_is_an_entry_point() -> None:
    (found,) = entry_points(group="pytest11", name="kmirror")
    assert found.value == "kmirror.testing.pytest_plugin"


def test_each_test_has_a_cluster_of_its_own_by_its_marker(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        seen = []

        @pytest.mark.kafka(brokers=2, topics={"orders": 6}, configs={"num.partitions": "4"})
        def test_a(kafka_cluster):
            seen.append(kafka_cluster.bootstrap_servers)
            assert kafka_cluster.broker_ids == (1, 2)
            assert len(kafka_cluster.partitions(["orders"])) == 6
            assert kafka_cluster.configs["num.partitions"] == "4"

        def test_b(kafka_cluster):
            assert kafka_cluster.broker_ids == (1,) and not kafka_cluster.topics()
            assert kafka_cluster.bootstrap_servers not in seen
        """,
    )
    result.assert_outcomes(passed=2)


def test_tests_may_share_a_cluster(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.fixture(scope="session")
        def kafka_cluster_options():
            return {"brokers": 3}

        def test_a(kafka_cluster_session):
            kafka_cluster_session.create_topic("a")

        def test_b(kafka_cluster_session):
            assert kafka_cluster_session.topics() == ["a"] and len(kafka_cluster_session.broker_ids) == 3

        @pytest.mark.kafka(brokers=1)
        def test_c(kafka_cluster):
            assert kafka_cluster.broker_ids == (1,)
        """,
    )
    result.assert_outcomes(passed=3)


def test_two_clusters_with_a_mirror(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.kafka(topics=["orders"])
        def test_a(mirror_pair):
            mirror_pair.source.produce("orders", 0, [b"one"])
            mirror_pair.add_topics("orders")
            mirror_pair.catch_up()
            assert mirror_pair.destination.topics() == ["orders"]
        """,
    )
    result.assert_outcomes(passed=1)


def test_a_failing_test_prints_the_address_and_nodes_of_its_cluster(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.kafka(brokers=2, topics=["orders"])
        def test_a(kafka_cluster):
            kafka_cluster.kill(2)
            assert False

        def test_b(mirror_pair):
            assert False
        """,
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*Kafka cluster*",
            "kafka: bootstrap.servers=127.0.0.1:*,127.0.0.1:*",
            "*broker 1 at 127.0.0.1:*: running",
            "*broker 2 at 127.0.0.1:*: down",
            "*topic orders, 1 partition*",
            "source: bootstrap.servers=127.0.0.1:*",
            "destination: bootstrap.servers=127.0.0.1:*",
        ]
    )


def test_an_invalid_marker_is_an_error_with_a_reason(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.kafka(broker=3)
        def test_a(kafka_cluster):
            pass

        @pytest.mark.kafka(3)
        def test_b(kafka_cluster):
            pass
        """,
    )
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "*UsageError: pytest.mark.kafka has no option 'broker': did you mean brokers?",
            "*UsageError: pytest.mark.kafka needs options by name, such as brokers=3, not 3",
        ]
    )
