"""One partition: segments, leader epochs, producer state, and the rules of appending and cutting."""
