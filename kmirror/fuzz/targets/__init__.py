"""What can be fuzzed? One file for each kind of target; all are a `Target`."""
