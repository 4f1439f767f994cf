"""Each command's function accepts the options of its command; a renamed parameter would fail only when it is run."""

from __future__ import annotations

import inspect

import click
import pytest

from kmirror.cli.commands import COMMANDS
from kmirror.cli.group import build

TOP = build(COMMANDS)
PARSED = "parsed"
"""The only parameter of commands that parse their options as Kafka's tools do."""


@pytest.mark.parametrize("name", TOP.list_commands(click.Context(TOP)))
def test_a_function_has_a_parameter_for_each_option(name: str) -> None:
    command = TOP.get_command(click.Context(TOP), name)
    assert command is not None and command.callback is not None
    parameters = inspect.signature(command.callback).parameters
    options = {option.name for option in command.params if option.expose_value}
    named = {key for key, parameter in parameters.items() if parameter.kind is not inspect.Parameter.VAR_KEYWORD}
    if PARSED not in named:
        assert named <= options
        assert named == options or len(named) < len(parameters)
