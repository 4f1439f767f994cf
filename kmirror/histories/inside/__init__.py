"""What has to hold inside brokers and controllers at any time, though a client may never see that it does not.

A rule that is broken loses records only once the right node dies in the right moment; the rule itself is broken in many
more histories. So rules are looked at after each event, from outside of the code that keeps them: a look has a model of
its own of what it judges, and asks the engine for facts alone.
"""
