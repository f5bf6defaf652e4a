"""The results of a survey while replies come: as a page, as data, and as a page that others may read.

Numbers are those of ``naysay estimate --survey``. They come from tallies that are kept while replies are stored, so
that a page opens as quickly after a million replies as after a hundred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect.storage import Store

__all__ = ["aggregates", "page", "style"]


def page(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> str:
    """The results of a survey as a fragment of an HTML page, for the researcher.

    It needs no script and no style attribute. It links the style sheet ``/results.css``, which the application serves.

    Parameters
    ----------
    store : Store
    name : str
        The survey.
    language : str, optional
        Of questions and answers; by default the first of the questionnaire.
    by : str, optional
        A plain question whose answers make groups, such as from a link ``?by=area`` of the fragment itself.

    Raises
    ------
    DataError
        No such survey or language, or no such question to make groups.
    """
    from naysay.collect.results import fragments

    return fragments.page(store, name, language=language, by=by)


def aggregates(store: Store, name: str, *, language: str | None = None, by: str | None = None) -> dict[str, Any]:
    """The results of a survey as data that JSON can hold: counts, estimates and intervals, but nobody's reply.

    Answers are called by their names in the questionnaire, as in ``naysay estimate --survey NAME --format json``; with
    a language by what respondents read.

    Parameters
    ----------
    store, name, language, by
        As in `page`.

    Raises
    ------
    DataError
        No such survey or language, or no such question to make groups.
    """
    from naysay.collect.results import fragments

    return fragments.aggregates(store, name, language=language, by=by)


def style() -> str:
    """The style sheet of the fragment, which the application serves as ``/results.css``."""
    from naysay.show import rows

    return rows.style()
