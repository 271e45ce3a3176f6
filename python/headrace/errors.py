# SPDX-License-Identifier: Apache-2.0
"""The one family of errors: ``operator: what is wrong: name=value, ...; the fix``."""

import os
from typing import Any


class Error(Exception):
    """Root of all errors that Headrace raises on purpose."""

    __module__ = "headrace"

    def __str__(self) -> str:
        # KeyError would quote the message and OSError would rebuild it.
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(Error, ValueError):
    """A value that the operator cannot take."""

    __module__ = "headrace"


class ExchangeError(InvalidArgumentError, BufferError):
    """Data that an exchange protocol cannot carry as they are; the message names the way out."""

    __module__ = "headrace"


class TypeMismatchError(Error, TypeError):
    """A dtype, a kind or a class of shape that the operator cannot take."""

    __module__ = "headrace"


class ColumnNotFoundError(Error, KeyError):
    """A column name that the frame does not have."""

    __module__ = "headrace"


class OutOfMemoryError(Error, MemoryError):
    """A request that the budget or the machine cannot meet.

    Attributes
    ----------
    requested_bytes, limit_bytes, used_bytes : int
        The request, the budget, and what was in use; 0 when not known.
    """

    __module__ = "headrace"

    requested_bytes: int = 0
    limit_bytes: int = 0
    used_bytes: int = 0


class InputError(Error, OSError):
    """Bad bytes in an input, or a file that cannot be read or written.

    Where the system refuses, it is Python's own error for that as well: a missing file is caught
    by ``except FileNotFoundError`` too, others by PermissionError, IsADirectoryError, ...

    Attributes
    ----------
    path : str
        The file; also as ``filename``.
    line, column : int
        Where in the file, counted from 1; 0 when not known.
    errno, strerror : int and str, or None
        What the system said.
    """

    __module__ = "headrace"

    path: str = ""
    line: int = 0
    column: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """By its parts: neither the fields of OSError nor the class would get through."""
        fields = (self.path, self.errno or 0, self.line, self.column)
        return (input_error, (str(self), *fields), self.__dict__)


class DeviceError(Error, RuntimeError):
    """A device that fails or is not there."""

    __module__ = "headrace"


class UnsupportedError(Error, NotImplementedError):
    """Something that Headrace does not do."""

    __module__ = "headrace"


class InternalError(Error, RuntimeError):
    """A fault of Headrace itself; please report it.

    Attributes
    ----------
    held_bytes : int
        Bytes still held, when a leak check found them.
    """

    __module__ = "headrace"

    held_bytes: int = 0


#: InputError that is Python's own error as well, by the class of that.
_INPUT_ERRORS: dict[type[OSError], type[InputError]] = {OSError: InputError}


def input_error(
    message: str, path: str = "", errno: int = 0, line: int = 0, column: int = 0
) -> InputError:
    """An InputError that is also what Python raises for `errno`."""
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
