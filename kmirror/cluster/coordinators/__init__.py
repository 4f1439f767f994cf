"""Coordinators: state that is stored in a partition of an internal topic and decided by the partition's leader."""
