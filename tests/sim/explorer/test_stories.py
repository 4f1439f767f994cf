"""A story is complete: sentences, names, and every replica's log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kmirror.explorer.model import Model, State
from kmirror.explorer.rules import find_rules
from kmirror.explorer.scopes import Scope, find_scope
from kmirror.explorer.search import explore
from kmirror.explorer.stories import SENTENCES, StoryStep, build_story, format_step

WITH_CUTS = find_scope("four-sessions")


def kip_story() -> list[StoryStep]:
    model = Model(find_scope("kip"), find_rules("kip"))
    return build_story(model, explore(model).path)


def test_replicas_keep_their_names_when_another_leads() -> None:
    story = kip_story()
    for before, after in pairwise(story):
        for old, new in zip(before.pictures, after.pictures, strict=True):
            assert [row.replica for row in old.rows] == [row.replica for row in new.rows]
            moved = [r for r, s in zip(old.rows, new.rows, strict=True) if r.cells != s.cells]
            assert len(moved) <= 1, "one step writes one log"
    leaders = [[row.replica for row in told.pictures[0].rows if row.is_leader] for told in story]
    assert all(len(row) == 1 for row in leaders)
    assert ["A2"] in leaders and ["A1"] in leaders


def test_the_last_picture_shows_the_two_records() -> None:
    told = kip_story()[-1]
    a, b = told.pictures
    leader = next(row for row in a.rows if row.is_leader)
    assert a.state == "MIRRORING"
    differing = [pair for pair in zip(leader.cells, b.rows[0].cells, strict=True) if pair[0] != pair[1]]
    assert differing == [("1:a2", "1:R")]


def test_a_drawing_has_a_line_for_each_replica_and_a_column_for_each_offset() -> None:
    told = kip_story()[-1]
    lines = format_step(told)
    assert lines[0].strip().startswith(f"{told.number}. ")
    assert lines[1].split() == ["0", "1"]
    assert [line.split()[0] for line in lines[2:]] == ["A1", "A2", "A:", "B1", "B:"]
    column = lines[1].index("1")
    cells = {line.split()[0]: line[column - 1 : column + 2].strip() for line in lines[2:] if "leader" in line}
    assert set(cells) == {"A2", "B1"}
    assert all(cell.startswith("1:") for cell in cells.values())


def paths(scope: Scope, states_max: int) -> Iterator[tuple[Model, str, list[State]]]:
    """Yield a path to each kind of step, depth-first."""
    model = Model(scope, find_rules("decided"))
    parents: dict[State, State] = {model.initial_state(): -1}
    waiting, kinds = [model.initial_state()], {}
    while waiting and len(parents) < states_max:
        state = waiting.pop()
        for step in model.described_steps(state):
            if step.state not in parents:
                parents[step.state] = state
                waiting.append(step.state)
                kinds.setdefault(step.move.kind, step.state)
    for kind, state in kinds.items():
        path = [state]
        while parents[path[-1]] != -1:
            path.append(parents[path[-1]])
        yield model, kind, path[::-1]


def test_every_kind_of_step_has_a_sentence() -> None:
    """Each has its sentence once, including names and cells."""
    cut_by_source = Scope("source", "the source loses records", (2, 1), (1, 0), (0, 1), unclean=(1, 0))
    missed = find_scope("missed-two-unclean")
    scopes = ((cut_by_source, 20_000), (missed, 8_000), (find_scope("destination-three"), 8_000), (WITH_CUTS, 8_000))
    told = {}
    for model, kind, path in (row for scope, states_max in scopes for row in paths(scope, states_max)):
        last = build_story(model, path)[-1]
        assert last.text and "\n" not in last.text
        told[kind] = last.text
    assert set(told) == set(SENTENCES)
    assert "missed a cut" in told["missed-cut"]
    assert "diverging epoch" in told["mirror-cut"]
