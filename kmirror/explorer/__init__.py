"""Does any order of events, within small bounds, break mirroring? A breadth-first search: `kmirror explore`."""
