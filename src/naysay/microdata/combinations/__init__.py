"""Combinations of keys: which are dangerous, what each key adds, and what coarser values would buy."""
