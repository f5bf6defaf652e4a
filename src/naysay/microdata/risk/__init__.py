"""The table of risk and what it measures."""
