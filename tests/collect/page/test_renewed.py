"""A survey whose page was corrected while it was open: whoever compares fingerprints finds both."""

import urllib.request

from browsing import ANSWERS, privates, serve

from naysay.collect import Client


def test_a_page_that_was_renewed_shows_both_fingerprints(respond, tmp_path, until):
    with serve([privates()], tmp_path) as server:
        old = server.store.published("private")
        newer = Client({**old.client.files, "icon.svg": old.client.files["icon.svg"] + b"\n"})
        new = server.store.renew("private", client=newer)
        until(lambda: old.hash in urllib.request.urlopen(f"{server.page('private')}/survey.json").read().decode())
        respondent = respond("private", on=server).open()
        respondent.page.get_by_text("For those who want to check").click()
        assert respondent.page.locator("#hash").text_content() == new.hash
        assert respondent.page.locator("main").text_content().count(old.hash) == 1
        respondent.start().to_review(ANSWERS).confirm()
        receipt = respondent.page.locator("#receipt").text_content()
    assert f"Fingerprint: {new.hash}\nFingerprint before this page was corrected: {old.hash}\n" in receipt
