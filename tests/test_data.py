import hashlib
import json

from naysay.data import gvu_counts

# SHA-256 of the counts as compact JSON, in the order of Esponda, Huerta & Guerrero (2016): five questions of the GVU's
# 8th WWW User Survey (1997; UCI KDD Archive, "Internet Usage Data"), age in ten bins after "Not_Say" is set to 0.
COUNTS = "ccb88775b98607e2a4a1f5f3953c22fa29210c66fbc1a03e771b3d27cccf52a4"


def test_the_counts_are_those_of_the_survey():
    text = json.dumps(gvu_counts(), ensure_ascii=False, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == COUNTS


def test_every_question_was_answered_by_everybody():
    assert [sum(counts.values()) for counts in gvu_counts().values()] == [10_108] * 5


def test_no_counts_are_shared_between_callers():
    gvu_counts()["race"].clear()
    assert gvu_counts()["race"]
