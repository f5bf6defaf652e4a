"""A survey as it is published, and what is held against it: bodies, answers, conditions; pure, without a network."""
