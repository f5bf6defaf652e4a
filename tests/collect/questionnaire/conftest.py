import pytest

from naysay.collect.questionnaire import examine


@pytest.fixture
def form(tmp_path):
    """Examine an XLSForm in Markdown, its lines as pyxform has them: ``form("| survey | … |")``."""

    def examined(text, name="form.md"):
        path = tmp_path / name
        lines = [line.strip() for line in text.strip().splitlines()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return examine(path)

    return examined
