"""A two-page statement for an ethics board, written from the survey at hand."""

from naysay.collect.ethics.statement import LANGUAGES, Statement

__all__ = ["LANGUAGES", "Statement"]
