"""Breadth-first search for an order of events, within small bounds, that breaks mirroring: `kmirror explore`."""
