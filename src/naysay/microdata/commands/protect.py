"""``naysay protect``: a file made safer by a plan, with risk before and after."""

from __future__ import annotations

from naysay.console import output
from naysay.console.commands import takes
from naysay.microdata.commands.protect_options import ProtectOptions


@takes(ProtectOptions)
def command(options: ProtectOptions) -> None:
    """Protect a file before it is released, and show what that costs.

    The command proposes a plan that reaches the target with few losses, says what it changes, and writes the release
    in the format that its name says, with labels and all. Beside it stands a log that repeats it: keep the log as
    secret as the original. Risk before and after is that of the file as written. Without --out nothing is written.

    \b
    Examples:
      naysay protect survey.sav --keys age,gender,occupation
      naysay protect survey.sav --keys age,gender,occupation --target "k >= 3" \\
          --importance occupation=high --out safe.sav
      naysay protect survey.sav --keys age,gender,occupation --bins age=5 \\
          --save proposed.toml
      naysay protect survey.sav --plan plan.toml --out safe.sav
      naysay protect survey.sav --keys age,gender,occupation \\
          --write-hierarchies levels.xlsx
      naysay protect survey.sav --keys age,gender,occupation \\
          --hierarchies levels.xlsx --out safe.sav --html board.html
    """
    from naysay.microdata.commands.protecting import Protecting
    from naysay.microdata.protect.page import protect_html

    output.check(options.html)
    work = Protecting(options)
    if options.write_hierarchies is not None:
        levels = work.levels(options.write_hierarchies)
        sizes = {name: {"values": len(each.levels), "levels": each.height} for name, each in levels.items()}
        if options.format_ == "json":
            output.say(output.json_text({"hierarchies": sizes}))
        else:
            output.say(
                "\n".join(f"{name}: {each['values']:,} values, {each['levels']} levels" for name, each in sizes.items())
            )
    else:
        found = work.found()
        output.write(options.html, lambda: protect_html(found))
        if options.format_ == "json":
            output.say(output.json_text(found.to_dict()))
        else:
            output.say(str(found))
    for text in work.notes:
        output.note(text)
