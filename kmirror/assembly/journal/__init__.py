"""What was a node given, and what did it do? Journals of nodes, written by any runner, and their replay."""
