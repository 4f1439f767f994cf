"""Coordinators: state that lives in a partition of an internal topic and is decided by its leader."""
