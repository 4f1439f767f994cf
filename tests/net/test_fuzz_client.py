"""`kmirror fuzz client`: each bad client is found by its fault, and the findings can be replayed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.fuzz.clients.campaign import Client, ClientCampaign, entries_of
from kmirror.fuzz.clients.delivery_faults import Delivery
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.servers import OwnCluster
from kmirror.fuzz.clients.session import Reaction
from kmirror.fuzz.clients.stored_responses import Entry, read_entry
from kmirror.fuzz.findings import FaultKind, Finding, load
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.headers import decode_response
from tests.net.wire import WITHIN_S, Wire

SCRIPT = Path(__file__).with_name("bad_client.py")
QUICK = (sys.executable, "-I", "-S", str(SCRIPT))
SESSIONS_MAX = 300
TIMEOUT_S = 4 * WITHIN_S
"""For a command that starts a cluster, and other processes."""


@pytest.fixture(scope="module")
def interceptor() -> ResponseInterceptor:
    return ResponseInterceptor()


@pytest.fixture(scope="module")
def cluster(interceptor: ResponseInterceptor) -> Iterator[OwnCluster]:
    with OwnCluster(interceptor) as cluster:
        yield cluster


def client(fault: str, *, timeout_s: float = 20.0, is_strict: bool = False) -> Client:
    return Client((*QUICK, fault, "{bootstrap}"), timeout_s, memory_mib=64, is_strict=is_strict)


def campaign(
    program: Client, cluster: OwnCluster, interceptor: ResponseInterceptor, *, shrinks: bool = False
) -> ClientCampaign:
    return ClientCampaign(program, cluster, interceptor, 1, shrinks=shrinks)


def first_finding(found: ClientCampaign) -> Finding:
    for tally in found.run():
        if tally.findings:
            return next(iter(tally.findings.values()))
        assert tally.sessions < SESSIONS_MAX
    raise AssertionError("a campaign without bounds does not end")


@pytest.mark.parametrize(
    ("fault", "kind", "cause", "timeout_s"),
    [
        ("loops", FaultKind.SLOW, "spins after ApiVersionsResponse", 2.0),
        ("waits", FaultKind.SILENT, "hangs after ApiVersionsResponse", 2.0),
        ("storms", FaultKind.SLOW, "asks without pause after ApiVersionsResponse", 20.0),
        ("grows", FaultKind.MEMORY, "memory after ApiVersionsResponse", 20.0),
        ("dies", FaultKind.RAISED, "SIGSEGV after ApiVersionsResponse", 20.0),
        ("reserves", FaultKind.MEMORY, "memory after ApiVersionsResponse behind a wrong length, then nothing", 20.0),
    ],
)
def test_a_bad_client_is_found(
    fault: str, kind: FaultKind, cause: str, timeout_s: float, cluster: OwnCluster, interceptor: ResponseInterceptor
) -> None:
    finding = first_finding(campaign(client(fault, timeout_s=timeout_s), cluster, interceptor))
    assert (finding.target, finding.kind, finding.cause) == ("client", kind, cause)
    assert (finding.message, finding.version) == ("ApiVersionsResponse", 0)


def delivery_faults() -> dict[Delivery, Entry]:
    """Return for each delivery fault a response to the second request."""
    numbers = {Delivery.LENGTH: -1, Delivery.LENGTH_AND_END: 5_000, Delivery.CUT: 9, Delivery.LATE: 100}
    data = {delivery: numbers.get(delivery, 0).to_bytes(4, "big", signed=True) for delivery in Delivery}
    return {delivery: Entry(18, 0, 1, data[delivery], delivery) for delivery in Delivery}


def test_a_client_with_a_timeout_ends_for_every_delivery_fault(
    cluster: OwnCluster, interceptor: ResponseInterceptor
) -> None:
    sound = campaign(client("nothing"), cluster, interceptor)
    sound.measure_baseline()
    assert {delivery for delivery, entry in delivery_faults().items() if sound.replay([entry])} == set()


@pytest.mark.parametrize("delivery", [Delivery.NEVER, Delivery.LENGTH_AND_END])
def test_a_client_that_waits_without_a_bound_is_found(
    delivery: Delivery, cluster: OwnCluster, interceptor: ResponseInterceptor
) -> None:
    patient = campaign(client("trusts", timeout_s=1.0), cluster, interceptor)
    patient.measure_baseline()
    fault = patient.replay([delivery_faults()[delivery]])
    assert fault is not None
    assert (fault.kind, fault.cause) == (FaultKind.SILENT, f"hangs after ApiVersionsResponse{delivery.name_suffix}")


def test_an_exit_code_is_reported_and_judged_on_request(cluster: OwnCluster, interceptor: ResponseInterceptor) -> None:
    lenient = campaign(client("gives_up"), cluster, interceptor)
    for tally in lenient.run():
        if "exit code 1 LookupError in bad_client.py:gives_up" in tally.program_outcomes:
            break
        assert tally.sessions < SESSIONS_MAX
    assert not lenient.tally.findings
    finding = first_finding(campaign(client("gives_up", is_strict=True), cluster, interceptor))
    assert finding.cause == "exit code 1 LookupError in bad_client.py:gives_up"
    assert any(line.startswith("stderr: LookupError: error ") for line in finding.story)


def test_a_finding_is_shrunk_and_seen_again_elsewhere(cluster: OwnCluster, interceptor: ResponseInterceptor) -> None:
    finding = first_finding(campaign(client("dies"), cluster, interceptor, shrinks=True))
    assert not finding.before
    (entry,) = entries_of(finding)
    assert len(entry.data) == 10  # The count is the last field that such a client needs: it is below zero.
    other = ResponseInterceptor()
    with OwnCluster(other) as elsewhere:
        again = campaign(client("dies"), elsewhere, other)
        again.measure_baseline()
        fault = again.replay([entry])
        assert fault is not None and fault.cause == finding.cause
        assert again.replay([entry._replace(version=1)]) is None  # This client does not send that version.
        assert again.replay([entry._replace(nth=7)]) is None


def test_an_unreproduced_end_is_no_finding(
    cluster: OwnCluster, interceptor: ResponseInterceptor, tmp_path: Path
) -> None:
    once = tmp_path / "once.py"
    once.write_text(
        "import os, pathlib, runpy, signal, sys\n"
        "mark = pathlib.Path(sys.argv[3])\n"
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
        "mark.write_text(mark.read_text() + '.' if mark.exists() else '.')\n"
        "if len(mark.read_text()) == 9: os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    words = (sys.executable, "-I", "-S", str(once), "nothing", "{bootstrap}", str(tmp_path / "mark"))
    found = campaign(Client(words), cluster, interceptor)
    for tally in found.run():
        if tally.sessions == 12:
            break
    assert not tally.findings
    assert tally.unconfirmed.total() == tally.program_outcomes["signal 11"] == 1


def test_a_program_that_cannot_run_is_reported(cluster: OwnCluster, interceptor: ResponseInterceptor) -> None:
    with pytest.raises(UsageError, match="it cannot even be run"):
        campaign(client("fails"), cluster, interceptor).measure_baseline()
    with pytest.raises(UsageError, match="it has sent no request"):
        campaign(Client((sys.executable, "-c", "")), cluster, interceptor).measure_baseline()
    with pytest.raises(UsageError, match="no-such-program: "):
        campaign(Client(("no-such-program",)), cluster, interceptor).measure_baseline()


def test_the_tally_counts_the_clients_next_actions(cluster: OwnCluster, interceptor: ResponseInterceptor) -> None:
    found = campaign(client("nothing"), cluster, interceptor)
    *_, tally = found.run(frames=150)
    assert 150 <= tally.frames == tally.reactions.total()
    assert tally.taken == sum(count for row, count in tally.reactions.items() if not row.is_broken) < tally.frames
    assert {row.reaction for row in tally.reactions} == set(Reaction)  # Nothing more if the port closed the link.
    assert {(row.message, row.version) for row in tally.reactions} == {("ApiVersionsResponse", 0)}


def test_clients_outside_of_sessions_get_unchanged_responses(
    cluster: OwnCluster, interceptor: ResponseInterceptor
) -> None:
    campaign(client("nothing"), cluster, interceptor).measure_baseline()
    with Wire(cluster.bootstrap_servers) as wire:
        for _ in range(50):
            wire.ask(ApiVersionsRequest(), 3)


def test_it_has_no_stream_of_frames() -> None:
    with pytest.raises(UsageError, match="kmirror fuzz client"):
        open_target("client", TargetOptions())


# -- the command ------------------------------------------------------------------------------------


def kmirror(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kmirror", "fuzz", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_a_finding_is_kept_and_replayed_by_the_command(
    cluster: OwnCluster, interceptor: ResponseInterceptor, tmp_path: Path
) -> None:
    program = " ".join((*QUICK, "dies", "{bootstrap}"))
    words = ("client", "--client", program, "--seed", "1", "--frames", "200", "--corpus", str(tmp_path), "-o", "json")
    ran = kmirror(*words)
    assert ran.returncode == 4, ran.stderr
    summary = json.loads(ran.stdout)
    assert [each["cause"] for each in summary["findings"]] == ["SIGSEGV after ApiVersionsResponse"]
    assert summary["ends"]["signal 11"] >= summary["findings"][0]["times"] >= 1
    (path,) = tmp_path.iterdir()
    assert load(path).story[0] == f"program: {program}"
    again = kmirror("--replay", str(path), "--client", program)
    assert again.returncode == 4 and "now: raised: SIGSEGV after ApiVersionsResponse v0" in again.stdout
    fixed = kmirror("--replay", str(path), "--client", " ".join((*QUICK, "nothing", "{bootstrap}")))
    assert fixed.returncode == 0 and "not seen again" in fixed.stderr
    # A file of another user does not name the command that is run here.
    unnamed = kmirror("--replay", str(path))
    assert unnamed.returncode == 1 and "--client" in unnamed.stderr


def test_sigterm_ends_the_program_with_a_summary(tmp_path: Path) -> None:
    slow, mark = tmp_path / "slow.py", tmp_path / "runs"
    slow.write_text(
        "import os, pathlib, runpy, sys, time\n"
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
        "mark = pathlib.Path(sys.argv[3])\n"
        "runs = mark.read_text().split() if mark.exists() else []\n"
        "mark.write_text(' '.join([*runs, str(os.getpid())]))\n"
        "if len(runs) == 3: os.kill(os.getppid(), 15); time.sleep(600)\n"
    )
    program = f"{sys.executable} -I -S {slow} nothing {{bootstrap}} {mark}"
    ran = kmirror("client", "--client", program, "--seed", "1", "-o", "json")
    assert ran.returncode == 130, ran.stderr
    assert json.loads(ran.stdout)["sessions"] == 1
    assert not Path(f"/proc/{mark.read_text().split()[-1]}").exists()


@pytest.mark.parametrize("is_behind", [False, True], ids=["own", "proxied"])
def test_a_port_serves_any_number_of_clients(is_behind: bool, cluster: OwnCluster) -> None:
    more = ("--bootstrap-server", cluster.bootstrap_servers) if is_behind else ()
    command = [sys.executable, "-m", "kmirror", "fuzz", "client", "--seed", "3", "-o", "json", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first_line = json.loads(process.stdout.readline())
        for _ in range(20):
            subprocess.run([*QUICK, "nothing", first_line["bootstrap_servers"]], timeout=TIMEOUT_S, check=False)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    summary = json.loads(out)
    assert process.returncode == 130, err
    assert summary["sessions"] == 20
    assert 0 < summary["frames"] - summary["taken"] < summary["frames"]
    assert "link " in err and " of seed 3: ApiVersionsResponse v0, number " in err


def test_invalid_options_are_refused(cluster: OwnCluster) -> None:
    for words, text in (
        (("--listen", "x"), "--listen must be PORT or HOST:PORT"),
        (("--jobs", "2"), "does not support --jobs"),
        (("--listen", "0.0.0.0:0", "--bootstrap-server", cluster.bootstrap_servers), "--listen PORT"),
    ):
        ran = kmirror("client", *words)
        assert ran.returncode in (1, 2) and text in ran.stderr


def test_an_entry_is_read_as_it_was_kept() -> None:
    with pytest.raises(UsageError, match="at least 9 bytes"):
        read_entry(bytes(7))
    assert decode_response(bytes(10), 18, 0).body  # The prefix of the shrunk finding above.
