"""The work of ``naysay protect``: options read and checked, a plan proposed or read, and run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from naysay import files
from naysay.errors import DataError
from naysay.microdata.commands import declared
from naysay.microdata.commands.protect_options import ProtectOptions
from naysay.microdata.protect.dropping import Drop
from naysay.microdata.protect.hierarchy import Hierarchy
from naysay.microdata.protect.plan import Plan
from naysay.microdata.protect.proposing import propose
from naysay.microdata.protect.releases import Release, check_out, log_of, release

__all__ = ["Protecting"]

_OF_A_PROPOSAL = ("keys", "target", "importance", "hierarchy", "bins", "strata", "unit", "order", "drop", "save")


class Protecting:
    """The options of ``naysay protect``, read.

    Parameters
    ----------
    options : ProtectOptions

    Raises
    ------
    DataError
        For options that are wrong whatever the file holds.
    """

    def __init__(self, options: ProtectOptions) -> None:
        self.options = options
        self.notes: list[str] = []
        self.importance = {
            name: _price(text)
            for name, text in declared.named(
                options.importance or (), option="--importance", example="occupation=high"
            ).items()
        }
        self._check()

    def _check(self) -> None:
        options = self.options
        if (options.plan is None) == (options.keys is None):
            raise DataError("give --keys to have a plan proposed, or --plan to run one")
        for name in _OF_A_PROPOSAL:
            if options.plan is not None and getattr(options, name) is not None:
                raise DataError(f"--{name} is for a plan that is proposed; change the file of --plan instead")
        if options.out is not None:
            check_out(options.file, options.out, force=options.force)
        if options.save is not None:
            declared.check_free(options.save, force=options.force)

    def found(self) -> Release:
        """The plan, run; written where --out says, and otherwise nowhere."""
        options = self.options
        plan = None if options.plan is None else Plan.read(options.plan)
        missing = () if options.na is None else declared.record(options.na, option="--na")
        if plan is not None:
            missing = missing or tuple(plan.missing)
        with files.readable(options.file):
            original = files.Original.read(
                options.file,
                separator=options.separator,
                encoding=options.encoding,
                codes=options.codes,
                missing=missing,
            )
        plan = plan or self._proposed(original, missing)
        if options.save is not None:
            options.save.write_text(plan.toml(), encoding="utf-8")
            self.notes.append(f"{options.save}: the plan; change it, and run it with --plan")
        if options.out is None:
            self.notes.append("nothing is written without --out")
            with TemporaryDirectory(prefix="naysay-") as folder:
                return release(original, plan, Path(folder) / f"release{options.file.suffix}".replace(".por", ".sav"))
        found = release(original, plan, options.out, force=options.force)
        told = "it repeats the release, and undoes what was drawn: keep it with the original"
        self.notes.append(
            f"{options.out}: the release; {log_of(options.out).name}: its log, secret like the original, for {told}"
        )
        return found

    def _proposed(self, original: files.Original, missing: tuple[str, ...]) -> Plan:
        options = self.options
        keys = declared.record(options.keys or "", option="--keys")
        widths = declared.named(options.bins or (), option="--bins", example="age=5")
        paths = declared.named(options.hierarchy or (), option="--hierarchy", example="job=jobs.csv")
        plan = propose(
            original.frame,
            keys,
            target=options.target or "k >= 3",
            importance=self.importance,
            hierarchies={name: Hierarchy.read(Path(path), separator=options.separator) for name, path in paths.items()},
            bins={name: _width(text, name) for name, text in widths.items()},
            strata=() if options.strata is None else declared.record(options.strata, option="--strata"),
            unit=options.unit,
            order=options.order,
            missing=missing,
        )
        unused = [name for name in paths if not any(name in step.variables for step in plan.steps[:-1])]
        if unused:
            told = f"no level of the hierarchy of {', '.join(unused)} loses less than emptying single cells does"
            self.notes.append(f"{told}: the plan leaves it out; --importance {unused[0]}=high makes its cells dearer")
        if options.drop is None:
            return plan
        left = Drop(columns=declared.record(options.drop, option="--drop"))
        return replace(plan, steps=(left, *plan.steps))


def _price(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _width(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise DataError(f"--bins must be a width, such as {name}=5; got {text!r}") from None
    return int(number) if number.is_integer() else number
