"""``naysay admin``: the password of the admin pages, tokens of programs, and the log of what was done."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from naysay.collect.commands.database import DATA, Data, Database, log_act, opened
from naysay.console import output
from naysay.errors import DataError

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Set the admin password, make tokens, see what was done.

    \b
    Example:
      naysay admin log
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command("password")
def password(db: Database = None, data: Data = DATA) -> None:
    """Set the password of the admin pages. Everybody is logged out.

    The password is asked for twice and not shown. It needs at least 12 characters.

    \b
    Example:
      naysay admin password
    """
    from naysay.collect.admin.account import Account

    with opened(db, data, "make") as store:
        try:
            typed_password = typer.prompt("New password", hide_input=True, confirmation_prompt=True)
        except typer.Abort:
            raise DataError("no password was given; nothing was changed") from None
        Account(store).set_password(typed_password)
        log_act(store, "set the password")
    output.say("the password is set, and everybody is logged out")


@app.command("factor-off")
def factor_off(db: Database = None, data: Data = DATA) -> None:
    """Ask for the password only, such as after a phone was lost.

    \b
    Example:
      naysay admin factor-off
    """
    from naysay.collect.admin.account import Account

    with opened(db, data, "change") as store:
        account = Account(store)
        if not account.has_second_factor:
            raise DataError("no code from a phone is asked for; nothing was changed")
        account.stop_second_factor()
        log_act(store, "turned the second factor off")
    output.say("from now on, the password alone is enough")


@app.command("token")
def token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What uses it.")],
    scope: Annotated[list[str], typer.Option(metavar="SCOPE", help="read:aggregates or read:export; may be repeated.")],
    survey: Annotated[str | None, typer.Option(metavar="NAME", help="The only survey that it reads.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DATE", help="The last day (UTC) on which it is good, as 2027-01-31.")
    ] = None,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Make a token with which a program reads. It is shown once; only a hash of it is stored.

    \b
    Example:
      naysay admin token "our dashboard" --scope read:aggregates
    """
    from naysay.collect.admin import tokens
    from naysay.collect.commands.survey import day_of

    with opened(db, data, "change") as store:
        created_token, secret = tokens.create(
            store, name, scopes=scope, survey=survey, expires=day_of(expires, "--expires")
        )
        token_text = f"{created_token.id} ({created_token.name}): {', '.join(created_token.scopes)}"
        log_act(store, "made a token", about=survey, detail=token_text)
    output.say(secret)
    output.note("copy the token now, it is not shown again; naysay admin revoke takes it back")


@app.command("tokens")
def tokens(db: Database = None, data: Data = DATA) -> None:
    """List the tokens of programs; their secrets are not stored.

    \b
    Example:
      naysay admin tokens
    """
    from naysay.collect.admin import tokens as known

    with opened(db, data, "read") as store:
        all_tokens = known.listed(store)
    table = Table("id", "name", "reads", "survey", "last day", "used", box=None)
    for listed_token in all_tokens:
        last_day, used_day = (str(day) if day else "" for day in (listed_token.expires, listed_token.used))
        table.add_row(
            listed_token.id,
            listed_token.name,
            ", ".join(listed_token.scopes),
            listed_token.survey or "all",
            last_day,
            used_day,
        )
    output.show(table)


@app.command("revoke")
def revoke(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id or name, as naysay admin tokens lists it.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Take a token back: whoever has it reads nothing more.

    \b
    Example:
      naysay admin revoke "our dashboard"
    """
    from naysay.collect.admin import tokens

    with opened(db, data, "change") as store:
        revoked_token = tokens.revoke(store, token)
        log_act(
            store,
            "revoked a token",
            about=revoked_token.survey,
            detail=f"{revoked_token.id} ({revoked_token.name})",
        )
    output.say(f"token {revoked_token.id} reads nothing more")


@app.command("log")
def log(
    db: Database = None,
    data: Data = DATA,
    form: Annotated[Literal["table", "json"], typer.Option("--format", help="How the log is printed.")] = "table",
) -> None:
    """Show what was done to surveys, by whom and when (UTC). Nothing that respondents do is in it.

    \b
    Example:
      naysay admin log --format json
    """
    from naysay.collect.admin.log import entries

    with opened(db, data, "read") as store:
        log_entries = entries(store)
    if form == "json":
        json_rows = [{**vars(entry), "at": entry.at.isoformat().replace("+00:00", "Z")} for entry in log_entries]
        output.say(output.json_text({"log": json_rows}))
        return
    table = Table("when", "by", "what", "survey", "detail", box=None)
    for entry in log_entries:
        table.add_row(f"{entry.at:%Y-%m-%d %H:%M}", entry.who, entry.what, entry.about or "", entry.detail or "")
    output.show(table)
