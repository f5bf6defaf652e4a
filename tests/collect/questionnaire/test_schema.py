import json
from pathlib import Path

import jsonschema
import pytest

from naysay.collect.questionnaire import sample, schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "reference" / "questionnaire.schema.json"


def text():
    return json.dumps(schema(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def test_the_published_schema_is_that_of_the_models():
    assert PUBLISHED.read_text(encoding="utf-8") == text(), (
        "out of date; write it: python tests/collect/questionnaire/test_schema.py"
    )


def test_the_sample_fulfills_it():
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(schema()).validate(sample().form())


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Has Spaces"},
        {"items": [{"kind": "geopoint", "name": "a", "label": {}}]},
        {"items": [{"kind": "note", "label": {}}]},
        {"unknown": 1},
    ],
)
def test_other_documents_do_not(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(sample().form() | change)


if __name__ == "__main__":
    PUBLISHED.write_text(text(), encoding="utf-8")
