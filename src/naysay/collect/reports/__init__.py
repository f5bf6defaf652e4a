"""Reports without a survey: devices send batches, the server counts them and forgets them."""
