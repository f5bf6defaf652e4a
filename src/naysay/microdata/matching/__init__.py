"""How many respondents share the keys of a respondent, and how many may be the same, by algorithms that agree."""
