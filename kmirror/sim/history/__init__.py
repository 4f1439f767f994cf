"""Whole histories of two or three clusters, drawn from a seed and judged by named checkers: `kmirror sim`."""
