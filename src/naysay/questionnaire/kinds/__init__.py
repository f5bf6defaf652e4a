"""The kinds of questions, each with all that is particular to it; see `naysay.questionnaire.items` for their list."""
