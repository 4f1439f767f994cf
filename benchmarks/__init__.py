"""Performance compared with kmirror's peers; see `python -m benchmarks --help`."""
