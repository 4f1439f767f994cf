"""Target: any decoder in Python, named `python:module:function`.

It is called with the bytes of a message and, if it takes three arguments, with the message's name and version. It may
raise `ValueError` and the errors of its own package; anything else is a finding. So is a valid message that it refuses,
if it gets the name and version or is used for one message only.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from kmirror.errors import UsageError
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol.registry import by_name, names

_ARGUMENTS = 3


class FunctionTarget(Stateless):
    """A function that reads a message."""

    def __init__(self, name: str, function: Callable[..., object], *, of_one_message: bool = False) -> None:
        self.name = name
        self._function = function
        self._package = str(function.__module__).partition(".")[0]
        try:
            parameters = len(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            parameters = 1
        self._takes_name = parameters >= _ARGUMENTS
        self._knows_message = self._takes_name or of_one_message

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the name of the error; raises `Fault` for an error that is not the function's own."""
        try:
            if self._takes_name:
                self._function(frame.data, frame.name, frame.version)
            else:
                self._function(frame.data)
        except Exception as error:
            if frame.is_valid and self._knows_message:
                description = f"a valid message: {type(error).__name__}: {error}"
                raise Fault(FaultKind.REFUSED, description, f"refused {frame.name}", "taken") from None
            if isinstance(error, ValueError) or type(error).__module__.partition(".")[0] == self._package:
                return type(error).__name__
            raise fault_of_exception(error) from error
        return TAKEN


def open_target(options: TargetOptions) -> tuple[FunctionTarget, Stream]:
    """Return the function as a target, and the bodies of the selected messages, or of all."""
    assert options.function is not None
    messages = tuple(by_name(name) for name in options.messages or names())
    target = FunctionTarget(
        f"python:{options.function}", find_function(options.function), of_one_message=len(messages) == 1
    )
    return target, Stream(options.seed, messages)


def find_function(path: str) -> Callable[..., Any]:
    """Return the function named by `module:function`; raises `UsageError` if there is none."""
    module, _, name = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{path!r} is not module:function: {error}") from None
    if not callable(value):
        raise UsageError(f"{path!r} cannot be called")
    function: Callable[..., Any] = value
    return function
