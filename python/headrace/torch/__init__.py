# SPDX-License-Identifier: Apache-2.0
"""PyTorch: batches of the rows of a frame as tensors.

>>> frame = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0, 1, 1]})
>>> loader = hr.torch.Loader(frame, 2, features=["x"], label="y")  # doctest: +SKIP
>>> len(loader)  # doctest: +SKIP
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.torch.loader import Loader

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Loader"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)
