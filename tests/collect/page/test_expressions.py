"""The page and the server agree on every condition."""

import json
from pathlib import Path

VECTORS = Path(__file__).parents[2] / "reference" / "expression_vectors.json"


def test_recorded_conditions_have_the_recorded_values(node):
    recorded = json.loads(VECTORS.read_text(encoding="utf-8"))
    values = node("expressions.mjs", "evaluate", "expressions.js", recorded)
    for vector, value in zip(recorded["vectors"], values, strict=True):
        assert (value, isinstance(value, bool)) == (vector["value"], isinstance(vector["value"], bool)), vector["text"]
