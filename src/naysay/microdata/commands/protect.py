"""``naysay protect``: a file made safer by a plan, with risk before and after."""

from __future__ import annotations

from naysay.console import output
from naysay.console.commands import takes
from naysay.microdata.commands.options import ProtectOptions


@takes(ProtectOptions)
def command(options: ProtectOptions) -> None:
    """Protect a file before release, and show what that costs.

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
    from naysay.microdata.protect.releases import protect_html

    output.check(options.html)
    work = Protecting(options)
    if options.write_hierarchies is not None:
        key_hierarchies = work.levels(options.write_hierarchies)
        hierarchy_sizes = {
            key_name: {"values": len(hierarchy.levels), "levels": hierarchy.height}
            for key_name, hierarchy in key_hierarchies.items()
        }
        if options.format_ == "json":
            output.say(output.json_text({"hierarchies": hierarchy_sizes}))
        else:
            output.say(
                "\n".join(
                    f"{key_name}: {size_of['values']:,} values, {size_of['levels']} levels"
                    for key_name, size_of in hierarchy_sizes.items()
                )
            )
    else:
        release = work.run_plan()
        output.write(options.html, lambda: protect_html(release))
        output.result(release, options.format_)
    for note in work.notes:
        output.note(note)
