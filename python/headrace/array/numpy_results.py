# SPDX-License-Identifier: Apache-2.0
"""What NumPy computed of our arrays, as arrays of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array.construct import asarray
from headrace.lazy.handle import Deferred

if TYPE_CHECKING:
    from collections.abc import Iterator


def deferred_in(value: Any) -> Iterator[Deferred]:
    """The lazy values in arguments, in lists and dictionaries too."""
    if isinstance(value, Deferred):
        yield value
    elif isinstance(value, dict):
        yield from deferred_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from deferred_in(each)


def as_ours(made: Any) -> Any:
    """Arrays of numbers as ours, also in tuples and lists; anything else as it is."""
    import numpy as np

    if isinstance(made, tuple | list):
        parts = [as_ours(each) for each in made]
        named = hasattr(made, "_fields")
        return type(made)(*parts) if named else type(made)(parts)
    if isinstance(made, np.ndarray) and made.dtype.kind in "biufc" and made.dtype.itemsize <= 16:
        return asarray(made.astype("float32") if made.dtype.name == "float16" else made)
    return made
