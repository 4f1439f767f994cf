"""Runner on asyncio: the same nodes as in the simulator, with real sockets, clocks and disks."""
