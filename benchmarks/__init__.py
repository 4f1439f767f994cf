"""How fast is it beside its peers? `python -m benchmarks --help`."""
