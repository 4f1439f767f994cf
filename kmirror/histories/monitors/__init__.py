"""Invariants of brokers and controllers that must hold at any time, even if no client would see a violation.

A broken rule loses records only if the right node dies at the right moment, but the rule itself is broken in many more
histories. So rules are checked after each event, outside the code that implements them: a monitor has its own model of
the object that it judges, and reads only facts from the engine.
"""
