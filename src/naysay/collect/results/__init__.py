"""Results of a survey while replies come."""
