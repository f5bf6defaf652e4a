"""What a questionnaire must hold before it is fielded, rule by rule."""
