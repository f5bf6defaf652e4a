"""From numbers in the file to people of the population."""
