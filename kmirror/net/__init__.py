"""The runner on asyncio: the same nodes as in the simulator, behind sockets, real clocks and real disks."""
