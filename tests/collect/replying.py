"""Many replies to a survey, straight into its database: drawn as devices draw them, but all at once."""

import datetime
import itertools
import json
import secrets

import numpy as np

from naysay.collect.storage import Reply

FORMULAS = ["=1+1", "'=1+1", "+49 30 1234", "-2+3", "@SUM(A1)", "\t=x", "it's fine", 'a;b, "c"\nd', "ünïcode"]


def replies(published, n, *, seed=1, missing=0.05, day=datetime.date(2026, 11, 20)):
    """That many replies with random answers, private ones randomized under the published designs."""
    rng = np.random.default_rng(seed)
    columns = {question.name: _answers(question, n, rng, missing) for question in published.questionnaire.questions}
    for row in zip(*columns.values(), strict=True):
        answers = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
        yield Reply(published.name, published.hash, secrets.token_hex(16), answers, day)


def fill(store, published, n, **asked):
    """Store that many replies."""
    made = replies(published, n, **asked)
    while group := list(itertools.islice(made, 10_000)):
        store.add(group)


def _answers(question, n, rng, missing):
    gone = rng.random(n) < missing
    if question.privacy is None:
        # drawing one by one is slow, so some are drawn, and these given again and again
        some = FORMULAS if question.kind == "text" else [question.draw(rng) for _ in range(500)]
        found = [some[place] for place in rng.integers(0, len(some), n)]
        return [None if out else each for out, each in zip(gone, found, strict=True)]
    said = [_said(question, n, rng) for _ in question.parts or (None,)]
    whole = [
        dict(zip(question.parts, row, strict=True)) if question.parts else row[0] for row in zip(*said, strict=True)
    ]
    return [None if out else each for out, each in zip(gone, whole, strict=True)]


def _said(question, n, rng):
    """Answers of everybody to one private question, or to one of its choices."""
    offer = question.privacy.offer
    truth = rng.choice(list(question.categories), n)
    said = offer.randomize(truth, rng=rng)
    levels = [None] * n if question.privacy.levels == (None,) else [str(level) for level in said.level]
    return [{"level": level, "response": text} for level, text in zip(levels, said.texts(), strict=True)]
