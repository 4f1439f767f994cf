"""Strength of the judge as a number: faults planted into the engine, and the finders that find each of them.

A fault is one changed statement of kmirror, a row of a TOML file: `written.toml` (by hand, without looking at the
tests) and `drawn.toml` (by cosmic-ray, from a seed). `python -m benchmarks.faults run` plants each into a copy of the
project and runs the finders: histories, the tests of the file, the explorer and the fuzzer.
"""
