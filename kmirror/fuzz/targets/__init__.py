"""Targets of the fuzzer, one file for each kind; each is a `Target`."""
