"""The society that a generated panel is drawn from: labels, and shares of the roundest kind.

Made up after what is generally known of the Netherlands around 2010, and then moved until the panel resembles the one
that Mulder describes; no respondent's data, and no table of the paper, is in it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

__all__ = [
    "CHILDREN",
    "CIVIL",
    "COUNTRIES",
    "DENOMINATIONS",
    "EDUCATIONS",
    "FIELDS",
    "GENDERS",
    "HEAD_AGE",
    "INCOMES",
    "INCOME_BOUNDS",
    "LANGUAGES",
    "MODULES",
    "NETWORKS",
    "OCCUPATIONS",
    "OCCUPATION_AGES",
    "OCCUPATION_SHARES",
    "POSITIONS",
    "PROFESSIONS",
    "TYPES",
    "URBAN",
    "WAGES",
    "normal",
]


def normal(*shares: float) -> tuple[float, ...]:
    """Shares as probabilities."""
    return tuple(share / sum(shares) for share in shares)


GENDERS = ("female", "male")
POSITIONS = ("head", "partner", "child")
CIVIL = ("never married", "married", "divorced", "widowed")

TYPES = {"single": 0.36, "couple": 0.29, "couple with children": 0.28, "parent with children": 0.07}
CHILDREN = normal(0.42, 0.42, 0.13, 0.03)
HEAD_AGE = {
    "at": (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.999, 1.0),
    "single": (18, 23, 31, 43, 58, 76, 86, 92, 106),
    "couple": (19, 25, 33, 50, 60, 71, 80, 87, 95),
    "couple with children": (21, 30, 36, 41, 46, 52, 57, 62, 70),
    "parent with children": (19, 30, 37, 42, 47, 53, 58, 63, 70),
}

OCCUPATIONS = (
    "paid work",
    "family business",
    "self-employed",
    "looking for work",
    "looking for first work",
    "exempted from looking",
    "student",
    "housekeeping",
    "pensioner",
    "disabled",
    "unpaid work on benefit",
    "voluntary work",
    "something else",
    "too young",
)
OCCUPATION_AGES = (16, 18, 22, 27, 35, 45, 55, 60, 63, 65, 75)
"""The ages at which the next row of shares begins."""
OCCUPATION_SHARES = np.array(
    [
        # in the order of OCCUPATIONS: paid, family, self-employed, …
        [0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 1.000],
        [0.030, 0.000, 0.000, 0.000, 0.000, 0.000, 0.970, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000],
        [0.260, 0.000, 0.005, 0.010, 0.010, 0.000, 0.700, 0.010, 0.000, 0.005, 0.000, 0.000, 0.000, 0.000],
        [0.492, 0.011, 0.028, 0.041, 0.024, 0.000, 0.308, 0.042, 0.000, 0.038, 0.003, 0.002, 0.011, 0.000],
        [0.572, 0.025, 0.104, 0.058, 0.003, 0.003, 0.028, 0.132, 0.000, 0.057, 0.003, 0.004, 0.011, 0.000],
        [0.484, 0.032, 0.146, 0.051, 0.003, 0.003, 0.014, 0.160, 0.000, 0.078, 0.006, 0.015, 0.008, 0.000],
        [0.391, 0.032, 0.160, 0.065, 0.001, 0.007, 0.007, 0.174, 0.000, 0.120, 0.007, 0.025, 0.011, 0.000],
        [0.173, 0.032, 0.146, 0.072, 0.001, 0.031, 0.000, 0.230, 0.056, 0.190, 0.009, 0.046, 0.014, 0.000],
        [0.315, 0.018, 0.084, 0.034, 0.001, 0.045, 0.000, 0.238, 0.034, 0.164, 0.007, 0.046, 0.014, 0.000],
        [0.140, 0.018, 0.056, 0.020, 0.001, 0.045, 0.000, 0.238, 0.279, 0.150, 0.003, 0.032, 0.018, 0.000],
        [0.020, 0.006, 0.016, 0.000, 0.000, 0.000, 0.002, 0.068, 0.852, 0.007, 0.000, 0.023, 0.006, 0.000],
        [0.003, 0.003, 0.005, 0.000, 0.000, 0.000, 0.002, 0.041, 0.927, 0.004, 0.000, 0.011, 0.004, 0.000],
    ]
)
OCCUPATION_SHARES /= OCCUPATION_SHARES.sum(axis=1, keepdims=True)
OCCUPATION_SHARES.setflags(write=False)

WAGES = np.array([1650, 1400, 1800, 900, 500, 850, 380, 420, 1350, 1050, 800, 700, 900, 0], float)
"""Median net income a month, in euro, by occupation."""
WAGES.setflags(write=False)
INCOME_BOUNDS = (0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 7500)
INCOMES = (
    "none",
    *(f"{low + 1} to {high}" for low, high in pairwise(INCOME_BOUNDS)),
    "more than 7500",
)

EDUCATIONS = {
    "primary": 0.10,
    "lower secondary": 0.26,
    "higher secondary": 0.11,
    "lower vocational": 0.23,
    "higher vocational": 0.22,
    "university": 0.08,
}
URBAN = {"extremely": 0.14, "very": 0.26, "moderately": 0.23, "slightly": 0.21, "not": 0.16}
COUNTRIES = {
    "Dutch": 0.815,
    "western, first generation": 0.035,
    "western, second generation": 0.055,
    "non-western, first generation": 0.055,
    "non-western, second generation": 0.04,
}
PROFESSIONS = {
    "higher academic": 0.06,
    "higher supervisory": 0.08,
    "intermediate academic": 0.27,
    "intermediate supervisory": 0.13,
    "other mental work": 0.34,
    "skilled manual": 0.10,
    "semi-skilled manual": 0.07,
    "unskilled manual": 0.07,
    "agrarian": 0.02,
}
FIELDS = {
    "general": 0.38,
    "teacher training": 0.05,
    "humanities": 0.03,
    "arts": 0.02,
    "law": 0.03,
    "economics": 0.13,
    "social science": 0.05,
    "mathematics": 0.01,
    "computing": 0.03,
    "technology": 0.13,
    "agriculture": 0.03,
    "medicine": 0.10,
    "personal care": 0.06,
    "catering": 0.03,
    "transport": 0.02,
    "security": 0.01,
    "other": 0.02,
}
NETWORKS = {"facebook": (0.75, 38.0), "linkedin": (0.35, 46.0), "hyves": (0.85, 35.0)}
"""The share of the young with a profile, and the age at which it is halved."""
LANGUAGES = {
    "dutch": 0.93,
    "dialect": 0.20,
    "frisian": 0.035,
    "turkish": 0.012,
    "arabic": 0.012,
    "papiamento": 0.006,
    "english": 0.03,
    "german": 0.015,
    "another": 0.035,
}
DENOMINATIONS = {"catholic": 0.45, "protestant": 0.37, "islam": 0.08, "another": 0.10}

MODULES = {
    # name: the months after the start in which it is fielded first, the share of members who are given it
    "wellbeing": (0, 1.0),
    "religion": (2, 0.85),
    "education": (5, 0.76),
    "work": (6, 0.72),
    "media": (8, 0.66),
    "language": (10, 0.60),
}
