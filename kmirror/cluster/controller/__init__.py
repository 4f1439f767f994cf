"""The controller: decides about metadata, writes its decisions to the metadata log, and replays them."""
