"""The controller: decides about metadata, writes the decision to its log, replays it."""
