"""Request handlers of a broker: one file per API, which states the versions, the checks and the omissions."""
