"""The commands of a survey in the field: ``naysay questionnaire``, ``serve``, ``survey`` and ``respond``."""
