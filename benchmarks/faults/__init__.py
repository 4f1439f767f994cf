"""The strength of the judge as a number: faults planted into the engine, and what finds each of them.

A fault is one changed statement of kmirror, kept as a row of a TOML file: `written.toml` (by hand, without a look at
the tests) and `drawn.toml` (by cosmic-ray, from a seed). `python -m benchmarks.faults run` plants each into a copy of
the project and asks the finders: histories, the tests that belong to the file, the explorer and the fuzzer.
"""
