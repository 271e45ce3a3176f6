# SPDX-License-Identifier: Apache-2.0
"""Element types as words that NumPy understands."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError

FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WORDS = ("bool", *INTEGERS, *FLOATS, "complex64", "complex128", "string")


class DType(str):
    """A dtype: a word that compares equal to NumPy's dtype and can be handed to NumPy.

    >>> import numpy as np
    >>> DType("float64") == np.float64, np.dtype(DType("int32"))
    (True, dtype('int32'))
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The word itself."""
        return str(self)

    @property
    def kind(self) -> str:
        """NumPy's letter: b, i, u, f, c, or U for strings."""
        return {"b": "b", "i": "i", "u": "u", "f": "f", "c": "c"}.get(self[0], "U")

    @property
    def itemsize(self) -> int:
        """Bytes of one array element (16 for a string view)."""
        return {"bool": 1, "string": 16}.get(str(self)) or int(
            "".join(filter(str.isdigit, self))
        ) // 8

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        try:
            return str.__eq__(self, dtype_word(other))
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"dtype('{self!s}')"


def dtype_word(dtype: Any) -> str:
    """The engine's word for `dtype`: a word, a NumPy dtype or type, or a Python type.

    Raises
    ------
    TypeError
        For what has no counterpart (object, datetime64, structured types), naming the known words.
    """
    if isinstance(dtype, str):
        word = {"float": "float64", "int": "int64", "str": "string", "boolean": "bool"}.get(
            dtype, dtype
        )
    elif isinstance(dtype, type) and dtype in (float, int, bool, str, complex):
        word = {float: "float64", int: "int64", bool: "bool", str: "string", complex: "complex128"}[
            dtype
        ]
    else:
        import numpy as np

        try:
            word = np.dtype(dtype).name
        except TypeError:
            word = repr(dtype)
        if word.startswith("str"):
            word = "string"
    if word not in WORDS:
        raise TypeMismatchError(
            f"dtype: unknown dtype: dtype={word!r}; use one of {', '.join(WORDS)}"
        )
    return word
