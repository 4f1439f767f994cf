"""A theme raises the frequency of moves of its profile, and adds none; the theme of a seed never changes."""

from __future__ import annotations

from kmirror.histories.draw import draw
from kmirror.histories.moves import MOVES
from kmirror.histories.profiles import PROFILES
from kmirror.histories.themes import THEMES, apply_theme
from kmirror.histories.workloads import KINDS
from kmirror.kernel.rng import Rng


def test_themes_name_existing_moves() -> None:
    for theme in THEMES:
        assert set(theme.moves) <= set(MOVES), theme.name
        assert set(theme.workloads) <= set(KINDS), theme.name


def test_a_theme_adds_no_move_to_a_profile() -> None:
    full = PROFILES["full"]
    drawn = [apply_theme(full, Rng(seed)) for seed in range(60)]
    assert all(row.moves.keys() - {"stale_source"} == full.moves.keys() for row in drawn)
    assert len({tuple(row.moves.values()) for row in drawn}) > len(THEMES) // 2
    assert 5 < sum(row is full for row in drawn) < 40


def test_some_full_seeds_have_stale_sources_in_any_theme() -> None:
    drawn = [apply_theme(PROFILES["full"], Rng(seed)) for seed in range(200)]
    stale = [row for row in drawn if "stale_source" in row.moves]
    assert 20 < len(stale) < 60
    assert all(11 * row.moves["stale_source"] in range(sum(row.moves.values()) - 11, sum(row.moves.values()) + 1)
               for row in stale)  # fmt: skip


def test_a_profile_without_themes_draws_as_ever() -> None:
    assert all(apply_theme(row, Rng(1)) is row for row in PROFILES.values() if not row.themes)


def test_the_same_seed_has_the_same_theme() -> None:
    assert draw(11) == draw(11)
