"""The step from what people said to its tally, the same for every design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._checks import group_order, whole
from naysay._counts import Channel, Tally
from naysay._values import Label
from naysay.errors import DataError, in_group
from naysay.responses import Codes, Responses, Space, cells_of
from naysay.sampling import Sampling

Columns = str | Sequence[str] | None

_NO_FRAME = (Responses, Mapping, Sequence, np.ndarray, type(None))


class Beside(TypedDict, total=False):
    """What may come with the answers, as columns or as column names; see `Tallied.tally`."""

    level: object
    sample: object
    weights: object
    sampling: Sampling | None
    count: object
    sums: bool | None


@dataclass(frozen=True)
class Offer:
    """How the channels of a design are offered.

    Parameters
    ----------
    noun : {"level", "sample"}
        What its channels are called.
    assigned_by : {"nobody", "respondent", "researcher", "lot"}
        Who decides which channel a respondent answers through; nobody where there is one.
    several : bool
        Whether its channels have names, which results then show. A single design is its own, unnamed channel.
    names_needed : int
        How many columns of levels or samples must come with the answers: one for each question that has them.
    measures_compliance : bool
        Whether what is estimated besides the categories says how many people do not comply.
    """

    noun: str = "level"
    assigned_by: str = "nobody"
    several: bool = False
    names_needed: int = 0
    measures_compliance: bool = False


class Tallied(ABC):
    """Anything that can be tallied: it has named channels and encodes their responses."""

    name: str
    space: Space
    kind: ClassVar[str]
    """Name of the JSON form."""

    @property
    @abstractmethod
    def offer(self) -> Offer:
        """How its channels are offered, and by whom they are assigned."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Any, ...]:
        """The levels that a respondent may choose from; ``(None,)`` when there is no choice."""

    @abstractmethod
    def channel(self, level: Label = None) -> Channel:
        """The single design under which a level is answered."""

    @abstractmethod
    def encode(self, values: object, level: object = None) -> Responses:
        """Responses from labels, sets or boolean arrays, each checked against the response space."""

    @abstractmethod
    def codes_at(self, level: Label, responses: Responses) -> tuple[NDArray[np.bool_], Codes]:
        """Who answered at `level` (n,), and their codes in that level's space."""

    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: None = None, **beside: Unpack[Beside]
    ) -> Tally: ...
    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: ArrayLike, **beside: Unpack[Beside]
    ) -> dict[Any, Tally]: ...
    @overload
    def tally(
        self, said: object = None, column: Columns = None, *, by: ArrayLike | None, **beside: Unpack[Beside]
    ) -> Tally | dict[Any, Tally]: ...
    def tally(
        self,
        said: object = None,
        column: Columns = None,
        *,
        level: object = None,
        sample: object = None,
        weights: object = None,
        sampling: Sampling | None = None,
        count: object = None,
        sums: bool | None = None,
        by: ArrayLike | None = None,
    ) -> Tally | dict[Any, Tally]:
        """The tally of what was said: distinct answers, and how often each was given.

        Parameters
        ----------
        said : Responses, sequence (n,), boolean array (n, t), dataframe, or mapping
            Labels; sets, or texts ``"a;b"``, for set-valued answers; any dataframe that narwhals takes, eager or lazy,
            with `column`; or ``{response: count}``. None is missing, and is counted.
        column : str or sequence of str
            With a frame, the column of answers: text, lists, or one boolean column for each category.
        level : (n,) sequence or column name
            The level that each respondent chose, for designs with levels.
        sample : (n,) sequence or column name
            The sample that each respondent was in, for designs of several samples.
        weights : (n,) float or column name
            Survey weights, not negative.
        sampling : Sampling, optional
            How the sample was drawn: weights, strata, clusters, finite population, replicate weights, known totals.
        count : (n,) int or column name
            How many people each row stands for. Alone, without `said`: how many gave each response, in the order of
            `responses`.
        sums : bool, optional
            Whether to keep how often answers speak for each category, in place of the distinct answers. By default only
            where a design has too many responses to count; for pure designs alone.
        by : (n,) sequence or column name
            Groups; the result is then ``{group: Tally}``.

        Returns
        -------
        Tally or dict of Tally

        Raises
        ------
        AnswerError
            An answer that the design cannot produce: which, where, and the nearest that it can.
        DataError
            Unknown columns, negative weights, no answers at all.

        Examples
        --------
        >>> from naysay import designs
        >>> survey = designs.negative(("a", "b", "c", "d"), discards=2)
        >>> survey.tally([{"a", "b"}, {"a", "c"}, {"b", "a"}, None])
        <Tally: 3 answers, 1 missing, 2 distinct>
        >>> designs.negative(("a", "b", "c")).tally(count=[5, 7, 9])
        <Tally: 21 answers, 3 distinct>
        """
        arguments = {"level": level, "sample": sample}
        level = arguments.pop(self.offer.noun)
        ((wrong_noun, wrong_argument),) = arguments.items()
        if wrong_argument is not None:
            raise DataError(
                f"{self.name or 'this design'} has no {wrong_noun}s; "
                f"leave `{wrong_noun}` out (or was {self.offer.noun}= meant?)"
            )
        if sampling is not None and weights is not None:
            sampling, weights = sampling.weighted(weights), None
        if column is not None or not isinstance(said, _NO_FRAME):
            from naysay import frames  # imports polars, which only dataframes need

            if column is not None:
                return frames.tally_frame(
                    self,
                    said,
                    column,
                    level=level,
                    weights=weights,
                    sampling=sampling,
                    count=count,
                    by=by,
                    sums=sums,
                )
            if frames.is_frame(said):
                raise DataError("name the column that holds the answers: design.tally(frame, 'income')")
        if isinstance(said, Mapping):
            answers, count = list(said), list(said.values())
            # Pairs of answers are passed on as two columns.
            said = tuple(map(list, zip(*answers, strict=True))) if self.space.answers > 1 and answers else answers
        elif said is None and count is not None:
            said = Responses(self.space.listing(), self.space)
            counts = _checks.amounts(count, what="counts")
            if len(counts) != self.space.size:
                raise DataError(
                    f"counts must have one number for each of the {self.space.size} responses; got {len(counts)}"
                )
        responses = said if isinstance(said, Responses) else self.encode(said, level)
        answer_count = len(responses)
        if count is None and weights is None and sampling is None and by is None and self.levels == (None,):
            return Tally.counted(self, responses, sums=sums)
        people_per_answer = np.ones(answer_count, dtype=np.int64)
        if count is not None:
            people_per_answer = whole(_checks.amounts(count, what="counts", length=answer_count))
        answer_weights = (
            np.ones(answer_count) if weights is None else _checks.amounts(weights, what="weights", length=answer_count)
        )
        weights_and_squares = answer_weights * people_per_answer, answer_weights * answer_weights * people_per_answer
        sampled_answers = None if sampling is None else sampling.rows(answer_count, count=people_per_answer)
        if sampled_answers is not None:
            weights_and_squares = sampled_answers.weight, sampled_answers.squared
        rows_by_group: Mapping[Any, list[int] | slice] = (
            {None: slice(None)} if by is None else _members(by, answer_count)  # all rows are not copied
        )
        tally_by_group: dict[Any, Tally] = {}
        for group_name, group_rows in rows_by_group.items():
            with in_group(group_name):
                tally_by_group[group_name] = Tally.of(
                    self,
                    responses if by is None else responses.take(group_rows),
                    people_per_answer[group_rows],
                    (weights_and_squares[0][group_rows], weights_and_squares[1][group_rows]),
                    weighted=weights is not None or sampling is not None,
                    rows=None if sampled_answers is None else (sampled_answers, np.arange(answer_count)[group_rows]),
                    sums=sums,
                )
        return tally_by_group[None] if by is None else tally_by_group


def _members(by: ArrayLike, size: int) -> dict[Any, list[int]]:
    """The rows of each group, the missing group first."""
    group_by_row = [None if _checks.is_missing(group_name) else group_name for group_name in cells_of(by)]
    if len(group_by_row) != size:
        raise DataError(f"by must give one group to each of the {size} answers; got {len(group_by_row)}")
    rows_by_group: dict[Any, list[int]] = {
        group_name: [] for group_name in sorted(dict.fromkeys(group_by_row), key=group_order)
    }
    for row_number, group_name in enumerate(group_by_row):
        rows_by_group[group_name].append(row_number)
    return rows_by_group
