"""Running surveys from a page: who may, what they do, and the log of what was done."""
