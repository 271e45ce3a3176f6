# SPDX-License-Identifier: Apache-2.0
"""The error classes. A message reads ``operator: what is wrong: name=value, ...; the fix``."""

import os
from types import TracebackType
from typing import Any

__all__ = [
    "ColumnNotFoundError",
    "ConvergenceError",
    "DeviceError",
    "Error",
    "ExchangeError",
    "InputError",
    "InternalError",
    "InvalidArgumentError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "TypeMismatchError",
    "UnsupportedError",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


class Error(Exception):
    """Base class of all errors that Headrace raises on purpose."""

    def __str__(self) -> str:
        # KeyError would quote the message and OSError would rebuild it.
        return str(self.args[0]) if self.args else ""

    def _render_traceback_(self: BaseException) -> list[str]:
        """What IPython shows: the lines of the user, without the frames of this package."""
        from IPython import get_ipython

        shown, trace = self.__traceback__, None
        frames = []
        while shown is not None:
            frames.append(shown)
            shown = shown.tb_next
        for each in reversed(frames):
            if not each.tb_frame.f_globals.get("__name__", "").startswith("headrace"):
                trace = TracebackType(trace, each.tb_frame, each.tb_lasti, each.tb_lineno)
        return get_ipython().InteractiveTB.structured_traceback(
            type(self), self, trace or self.__traceback__
        )


class InvalidArgumentError(Error, ValueError):
    """An argument value that the operator does not accept."""


class ExchangeError(InvalidArgumentError, BufferError):
    """Data that an exchange protocol cannot represent; the message suggests an alternative."""


class OutOfBoundsError(InvalidArgumentError, IndexError):
    """A position, an index or a mask that an axis does not have."""


class TypeMismatchError(Error, TypeError):
    """A dtype, type or shape that the operator does not accept."""


class ColumnNotFoundError(Error, KeyError):
    """A column name that the frame does not have."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation that exceeds the budget or the machine.

    Attributes
    ----------
    requested_bytes, limit_bytes, used_bytes : int
        The request, the budget, and the memory in use; 0 if unknown.
    """

    requested_bytes: int = 0
    limit_bytes: int = 0
    used_bytes: int = 0


class InputError(Error, OSError):
    """Malformed input, or a file that cannot be read or written.

    An error from the operating system is also Python's own class for it: a missing file is caught
    by ``except FileNotFoundError`` too, others by PermissionError, IsADirectoryError, ...

    Attributes
    ----------
    path : str
        The file; also as ``filename``.
    line, column : int
        Position in the file, counted from 1; 0 if unknown.
    errno, strerror : int and str, or None
        The error of the operating system.
    """

    path: str = ""
    line: int = 0
    column: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by parts: the fields of OSError and the class would be lost otherwise."""
        fields = (self.path, self.errno or 0, self.line, self.column)
        return (input_error, (str(self), *fields), self.__dict__)


class DeviceError(Error, RuntimeError):
    """A device that fails or does not exist."""


class ConvergenceError(Error, RuntimeError):
    """An iteration that ended before it reached its tolerance.

    Attributes
    ----------
    iterations : int
        How many there were.
    error : float
        What they reached.
    """

    iterations: int = 0
    error: float = 0.0


class UnsupportedError(Error, NotImplementedError):
    """A feature that Headrace does not support."""


class InternalError(Error, RuntimeError):
    """A bug in Headrace; please report it.

    Attributes
    ----------
    held_bytes : int
        Bytes still held, if a leak check found any.
    """

    held_bytes: int = 0


#: Of ``pandas.errors``: our errors are caught by any of them, and nothing warns.
_ERRORS_OF_PANDAS = (
    *("DataError", "EmptyDataError", "IndexingError", "IntCastingNaNError", "InvalidIndexError"),
    *("MergeError", "OptionError", "OutOfBoundsDatetime", "OutOfBoundsTimedelta", "ParserError"),
    *("SpecificationError", "UndefinedVariableError", "UnsortedIndexError"),
)
_WARNINGS_OF_PANDAS = (
    *("DtypeWarning", "ParserWarning", "PerformanceWarning", "Pandas4Warning"),
    "SettingWithCopyWarning",
)


def __getattr__(name: str) -> type[BaseException]:
    if name in _ERRORS_OF_PANDAS:
        return Error
    if name in _WARNINGS_OF_PANDAS:
        return Warning
    raise AttributeError(f"hr.errors has no attribute {name!r}; use hr.Error")


for _class in list(globals().values()):
    if isinstance(_class, type) and issubclass(_class, Error):
        _class.__module__ = "headrace"

# pandas.errors has these names.
MergeError = InvalidArgumentError
EmptyDataError = ParserError = InputError

#: Subclasses of InputError that are also one of Python's OSError subclasses, by that class.
_INPUT_ERRORS: dict[type[OSError], type[InputError]] = {OSError: InputError}


def input_error(
    message: str, path: str = "", errno: int = 0, line: int = 0, column: int = 0
) -> InputError:
    """An InputError that is also the class that Python raises for `errno`."""
    kind = type(OSError(errno, ""))
    if kind not in _INPUT_ERRORS:
        names = {"__module__": "headrace", "__doc__": InputError.__doc__}
        _INPUT_ERRORS[kind] = type(kind.__name__, (InputError, kind), names)
    error = _INPUT_ERRORS[kind](message)
    error.path, error.line, error.column = path, line, column
    error.filename = path or None
    if errno:
        error.errno, error.strerror = errno, os.strerror(errno)
    return error
