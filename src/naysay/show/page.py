"""Self-contained pages: one file without any requests, for browsers, phones and paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from naysay.show.content import Content
from naysay.show.finish import FILLS, INKS
from naysay.show.result import html as content_html
from naysay.show.result import template


@dataclass(frozen=True, init=False)
class Section:
    r"""One part of a page.

    Parameters
    ----------
    heading : str
    body : str or iterable of Content
        HTML, in which the text of users is already escaped; or content, which becomes HTML.

    Raises
    ------
    ExtraMissing
        If the body is content and the extra ``plots`` is not installed.

    Examples
    --------
    >>> from naysay.show import Sentence
    >>> Section("Who", [Sentence("<all>")]).body
    '<p>&lt;all&gt;</p>\n'
    """

    heading: str
    body: str

    def __init__(self, heading: str, body: str | Iterable[Content]) -> None:
        object.__setattr__(self, "heading", heading)
        object.__setattr__(self, "body", body if isinstance(body, str) else content_html(body))


def html(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    footnotes: Sequence[tuple[str, str]] = (),
    language: str = "en",
    flow: bool = False,
    dense: bool = False,
) -> str:
    """A whole page as one HTML text.

    Parameters
    ----------
    title : str
    sections : sequence of Section
    lead : sequence of str
        Paragraphs before the sections.
    facts : sequence of (number, what it is)
        Shown large under the title.
    footnotes : sequence of (term, text)
        After the sections.
    language : str
        Language of the page's own words.
    flow : bool
        Whether sections follow one another on paper; otherwise each begins a page.
    dense : bool
        Whether paper is filled closely, for a statement that must not exceed its pages.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> "&lt;b&gt;" in html("<b>", [])
    True
    """
    template_texts = {"title": title, "lead": lead, "facts": facts, "footnotes": footnotes, "language": language}
    page_kinds = " ".join(kind_name for kind_name, is_set in (("flow", flow), ("dense", dense)) if is_set)
    return template(
        "naysay.show", "page.html", sections=sections, inks=INKS | FILLS, kinds=page_kinds, **template_texts
    )
