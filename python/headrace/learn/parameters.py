# SPDX-License-Identifier: Apache-2.0
"""Checks of parameters that are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.learn.base import refuse

if TYPE_CHECKING:
    from headrace.learn.base import Estimator


def check_numbers(estimator: Estimator, name: str, size: int | None = None) -> np.ndarray[Any, Any]:
    """A parameter as float64, of `size` numbers if it is given; raises for others."""
    value = getattr(estimator, name)
    try:
        made = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        made = None
    if made is None or value is None or (size is not None and made.shape != (size,)):
        refuse(estimator, name, "a number or numbers" if size is None else f"{size} numbers")
    return made  # type: ignore[return-value]
