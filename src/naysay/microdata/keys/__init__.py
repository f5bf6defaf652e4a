"""Key variables, encoded once: what cells may hold, and the distinct tuples of them."""
