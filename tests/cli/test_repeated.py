"""Options that are given twice: lists grow, and anything else is refused, in every command."""

import pytest
import typer

from naysay.cli import COMMANDS, app, main


def commands(command, path):
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


ALL = [each for name, place in COMMANDS.items() for each in commands(place.load_command(name), (name,))]
OPTIONS = [
    (" ".join(path), command, option)
    for path, command in [*ALL, ((), typer.main.get_command(app))]
    for option in command.params
    if option.param_type_name == "option" and option.name != "help"
]


def test_every_command_is_walked():
    assert len(ALL) > 40 and len(OPTIONS) > 300


@pytest.mark.parametrize(
    ("command", "option"),
    [each[1:] for each in OPTIONS],
    ids=[f"{path} {option.opts[0]}" for path, _, option in OPTIONS],
)
def test_a_repeated_option_grows_or_is_refused(command, option):
    context = typer.Context(command, info_name=command.name)
    values = [] if option.is_flag else [["one"], ["two"]]
    words = [word for place in (0, 1) for word in (option.opts[0], *(values[place] if values else []))]
    try:
        found, _, _ = command.make_parser(context).parse_args(words)
    except typer.BadParameter as error:
        assert not option.multiple
        assert "given 2 times" in error.format_message() and option.opts[0] in error.format_message()
        return
    assert found[option.name] == (["one", "two"] if option.multiple else "one,two")
    assert option.multiple or option.metavar == "RECORD"


def test_lists_of_names_grow(tmp_path, capsys):
    (tmp_path / "in.csv").write_text("id,age,a,b\n" + "".join(f"{i},{i % 3},{i % 2},-9\n" for i in range(30)))
    out = tmp_path / "out.csv"
    words = ["protect", str(tmp_path / "in.csv"), "--keys", "age", "--out", str(out)]
    assert main([*words, "--drop", "id", "--drop", "a"]) == 0
    assert out.read_text().splitlines()[0] == "age,b"
    assert main([*words, "--force", "--drop", "id,a", "--separator", ",", "--separator", ";"]) == 2
    assert "--separator" in capsys.readouterr().err
