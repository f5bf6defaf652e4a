"""The genuine page before a server that lies: no true private answer leaves it, whatever the server says."""

import json

from browsing import ANSWERS
from hostile import refused


def test_the_liar_serves_the_genuine_page_until_it_lies(respond, liar, served):
    respondent = respond("private", on=liar).start().to_review(ANSWERS)
    liar.replies = [refused()]
    respondent.page.locator("#confirm").click()
    respondent.page.get_by_text("The server did not take it").first.wait_for()
    respondent.page.get_by_role("button", name="Look at the answers again").click()
    respondent.confirm()
    assert len(liar.bodies) == 2
    assert set(json.loads(liar.bodies[1])["answers"]) == set(ANSWERS) & set(json.loads(liar.bodies[0])["answers"])
    liar.tell(lambda form: form["questionnaire"]["title"].update(en="Another title"))
    assert "Another title" in respond("private", on=liar).open().page.locator("main").text_content()
