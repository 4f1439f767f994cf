"""How a broker replicates its partitions: leadership, ISR changes, what followers fetch, cuts."""
