"""Rule machines for sessions with a broker: clients that send possible requests, and a model of the responses."""
