"""The fuzzer: frames per second, and coverage (Z1 to Z4).

Z1: bodies of all messages in all versions, as bytes, compared with Hypothesis' stream: `st.from_type` of a message's
class, encoded. Z2: frames generated and run, for each target in one process. Z3: number of APIs and versions with a
request that a reader of whole requests accepted within a minute, compared with atheris without the grammar; both give
it headers and bodies as a broker gets them, and atheris, which sees the reader's lines, starts with an empty corpus.
Z4: frames sent to a kmirror broker behind a port, charged to the fuzzer's process.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial

from benchmarks.harness import Case, Run, no_runs
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.stream import BLOCK_FRAMES, Stream
from kmirror.fuzz.target import TAKEN
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.registry import by_name, names

EXAMPLES = 64
"""Examples of each call: the number that Hypothesis draws for one property."""
REACH_TIME_S = 60.0
WARM_UP_S = 4.0


def all_messages() -> Stream:
    return Stream(1, tuple(by_name(name) for name in names()))


def make_frames_pair() -> tuple[Run, Run]:
    """Return a function that makes `EXAMPLES` frames here, and one that makes as many with Hypothesis."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    import kmirror.testing.strategies  # noqa: F401  # registers the messages with Hypothesis

    stream, draw = all_messages(), random.Random(1)
    for block in range(2_000):
        stream.block(block)  # Grammars are made once for each message and version.

    def ours() -> None:
        first = draw.randrange(1 << 30)
        for block in range(first, first + EXAMPLES // BLOCK_FRAMES):
            stream.block(block)

    classes = stream.messages
    warnings.simplefilter("ignore")

    def theirs() -> None:
        cls = draw.choice(classes)

        @settings(
            max_examples=EXAMPLES, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        @given(st.from_type(cls))
        def encode(message: object) -> None:
            message.encode(cls.MAX_VERSION)  # type: ignore[attr-defined]

        encode()

    return ours, theirs


@cache
def frame_rates(target: str) -> list[float]:
    """Return the frames run in a second of this process, a few times."""
    opened_target, source = open_target(target, TargetOptions(seed=1))
    campaign = Campaign(opened_target, source)
    run_for(campaign, WARM_UP_S)
    found = []
    try:
        for _ in range(4):
            before, started_at = campaign.tally.frames, time.process_time()
            run_for(campaign, WARM_UP_S / 2)
            spent = time.process_time() - started_at
            found.append((campaign.tally.frames - before) / spent)
    finally:
        opened_target.close()
    return found


def run_for(campaign: Campaign, seconds: float) -> None:
    end = time.monotonic() + seconds
    block = campaign.tally.frames // BLOCK_FRAMES
    for _ in campaign.run(first_block=block):
        if time.monotonic() > end:
            return


def reached_count(tally: Tally, *, is_whole: bool) -> int:
    """Return the number of APIs and versions with an accepted request, or with any part read to its end."""
    return len({row[:2] for row in tally.outcomes if (row[2] == TAKEN if is_whole else row[2].startswith(TAKEN))})


@cache
def run_minutes() -> list[tuple[Tally, Tally]]:
    """Return the tallies of kmirror in a minute, and of atheris without the grammar, for two seeds."""
    from kmirror.fuzz.coverage import run

    found = []
    for seed in (1, 2):
        opened_target, source = open_target("request", TargetOptions(seed=seed))
        campaign = Campaign(opened_target, source)
        run_for(campaign, REACH_TIME_S)
        tallies = run("request", TargetOptions(seed=seed), frames=None, seconds=REACH_TIME_S, with_grammar=False)
        *_, last = tallies
        found.append((campaign.tally, last))
    return found


def compare_with_atheris(pairs: int, *, is_whole: bool) -> list[float]:
    """Return the APIs and versions that kmirror reached over those of atheris without the grammar."""
    return [
        reached_count(ours, is_whole=is_whole) / max(1, reached_count(theirs, is_whole=is_whole))
        for ours, theirs in run_minutes()
    ]


def cases() -> list[Case]:
    """Return Z1 to Z4."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    yield Case("Z1", "frames of all messages made", "hypothesis", make_frames_pair, 20)

    def frame_rate_of(target: str) -> Callable[[int], list[float]]:
        return lambda pairs: frame_rates(target)

    for target, id_ in (("decoder", "Z2"), ("batch", "Z2"), ("node", "Z2"), ("tcp", "Z4")):
        text = f"frames tried per CPU-second, by itself, {target}"
        yield Case(id_, text, "kmirror", no_runs, measure=frame_rate_of(target), version="")
    for text, is_whole, floor in (("every part read", True, 3), ("a request taken, if only an empty one", False, None)):
        text = f"APIs and versions reached in a minute, {text}"
        yield Case("Z3", text, "atheris", no_runs, floor, measure=partial(compare_with_atheris, is_whole=is_whole))
