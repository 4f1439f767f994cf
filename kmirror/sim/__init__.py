"""The deterministic runner: nodes, a network and virtual time, all from one seed."""
