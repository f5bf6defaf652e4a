"""What the package offers by name, and what it needs."""

import subprocess
import sys

import pytest

from naysay import questionnaire

NAMES = {
    "Answer", "Apply", "Bin", "Choice", "Constraint", "Date", "Decimal", "Examined", "Expression", "Grid", "Group",
    "Integer", "Item", "Label", "Note", "Place", "Practice", "Private", "Problem", "Question", "Questionnaire",
    "QuestionnaireError", "Ranking", "Rating", "SelectMultiple", "SelectOne", "Sent", "Text", "Value", "canonical",
    "check", "evaluate", "examine", "in_words", "lines", "load", "of_form", "parse_expression", "sample", "schema",
    "statements", "together", "truth", "write_expression", "write_xlsform",
}  # fmt: skip


def test_public_names():
    assert set(questionnaire.__all__) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES - {"Expression", "Item", "Label", "Question"}))
def test_every_public_name_is_documented(name):
    assert getattr(questionnaire, name).__doc__


def test_json_needs_no_extra(tmp_path):
    """Questionnaires as JSON are read, checked and described where only the core is installed."""
    (tmp_path / "sample.json").write_bytes(questionnaire.sample().to_json())
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('pyxform', 'lark', 'openpyxl', 'fastapi', 'sqlalchemy')));"
        "from naysay import questionnaire as q; form = q.load(sys.argv[1]);"
        "print(len(q.lines(form)), len(q.check(form)))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "sample.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.split()[1] == "0"
