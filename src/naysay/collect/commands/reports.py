"""``naysay reports``: what a server counts reports for, and their tallies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from naysay.collect.commands.database import DATA, Data, Database, log_act, opened
from naysay.console import options, output

Question = Annotated[str | None, typer.Option(metavar="NAME", help="What is asked, as batches name it.")]
Wave = Annotated[str | None, typer.Option(metavar="NAME", help="When it is asked, as batches name it.")]
Hash = Annotated[
    str | None,
    typer.Option("--design-hash", metavar="HASH", help="The beginning of the design's hash, if there are several."),
]

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Let devices send reports without a survey. The server counts them and forgets them.

    \b
    Example:
      naysay reports list
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command("open")
def open_topic(
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="A call, or a design's JSON file.")],
    question: Question = None,
    wave: Wave = None,
    categories: options.Categories = None,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Count reports drawn under a design, and print its hash. Every batch must name it.

    A server that runs on the database takes them at POST /reports within a second. Question and wave are names that
    you choose; batches must name the same. Reports to a topic that was closed are counted again.

    \b
    Examples:
      naysay reports open crash.json --question crash
      naysay reports open "k_ary(epsilon=1)" --categories "list,map,search" --question crash --wave 2026-11
    """
    from naysay.collect import reports

    loaded_design = options.design_of(design, categories)
    with opened(db, data, "make") as store:
        topic = reports.open_topic(store, loaded_design, question=question or "", wave=wave or "")
        log_act(store, "opened reports", detail=_topic_text(topic))
    output.say(topic.design)
    if question is None:
        output.note("only batches that name no question are counted; --question NAME counts those that name it")


@app.command("close")
def close(
    question: Question = None,
    wave: Wave = None,
    design_hash: Hash = None,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Count no more reports to a question and wave. What was counted stays.

    \b
    Example:
      naysay reports close --question crash --wave 2026-11
    """
    from naysay.collect import reports

    with opened(db, data, "change") as store:
        counted_topic = reports.topic_of(store, question=question, wave=wave, design=design_hash)
        reports.close(store, counted_topic.topic)
        log_act(store, "closed reports", detail=_topic_text(counted_topic.topic))
    output.say(f"{counted_topic.reports:,} reports were counted; no more are")


@app.command("list")
def reports_list(db: Database = None, data: Data = DATA) -> None:
    """List what reports are counted for, and how many have come.

    \b
    Example:
      naysay reports list
    """
    from naysay.collect import reports

    with opened(db, data, "read") as store:
        all_topics = reports.all_topics(store)
    if not all_topics:
        output.say("reports are counted for nothing yet; see naysay reports open --help")
        return
    table = Table("question", "wave", "design", "hash", "reports", "opened", "closed", box=None)
    for listed_topic in all_topics:
        design_name, days = (
            reports.design_of(listed_topic.content).name,
            (listed_topic.opened, listed_topic.closed or ""),
        )
        table.add_row(
            *listed_topic.topic[1:],
            design_name,
            listed_topic.topic.design[:12],
            f"{listed_topic.reports:,}",
            *map(str, days),
        )
    output.show(table)


@app.command("tally")
def tally(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The tally file to write, which naysay estimate reads.")],
    question: Question = None,
    wave: Wave = None,
    design_hash: Hash = None,
    force: options.Force = False,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Write the tally of all reports to a question and wave.

    \b
    Example:
      naysay reports tally crash.tally --question crash --wave 2026-11
    """
    from naysay.collect import reports

    output.check_free(out, force=force)
    with opened(db, data, "read") as store:
        report_tally = reports.tally(store, reports.topic_of(store, question=question, wave=wave, design=design_hash))
    report_tally.save(out)
    output.note(f"{report_tally.n:,} reports are in {out}")


def _topic_text(topic: tuple[str, str, str]) -> str:
    design_hash, question, wave = topic
    return f"question {question!r}, wave {wave!r}, design {design_hash[:12]}"
