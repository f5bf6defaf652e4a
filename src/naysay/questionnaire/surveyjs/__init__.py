"""Surveys of SurveyJS (JSON of survey-core 1 and 2) as questionnaires."""
