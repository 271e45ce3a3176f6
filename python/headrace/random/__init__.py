# SPDX-License-Identifier: Apache-2.0
"""Random arrays with NumPy's words: the same numbers for any number of threads.

A number is a function of the seed, of which draw it belongs to and of its place there
(Philox4x32-10; J. K. Salmon and others, SC 2011). They are not the numbers that NumPy draws from
the same seed.

>>> hr.random.default_rng(1).integers(6, size=5).tolist()
[5, 4, 5, 3, 3]
>>> hr.random.random((2, 3), seed=1).shape
(2, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.random.generator import Generator, Size, default_rng, seed_from

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Generator",
    "choice",
    "default_rng",
    "exponential",
    "integers",
    "normal",
    "permutation",
    "poisson",
    "random",
    "seed_from",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


def random(size: Size = None, *, seed: Any = None) -> Any:
    """`Generator.random` of a seed.

    >>> hr.random.random(3, seed=0).shape
    (3,)
    """
    return default_rng(seed).random(size)


def normal(size: Size = None, loc: float = 0.0, scale: float = 1.0, *, seed: Any = None) -> Any:
    """`Generator.normal` of a seed.

    >>> hr.random.normal((2, 2), seed=0).shape
    (2, 2)
    """
    return default_rng(seed).normal(loc, scale, size)


def integers(low: int, high: int | None = None, size: Size = None, *, seed: Any = None) -> Any:
    """`Generator.integers` of a seed.

    >>> hr.random.integers(0, 2, 3, seed=0).shape
    (3,)
    """
    return default_rng(seed).integers(low, high, size)


def permutation(x: Any, *, seed: Any = None) -> Any:
    """`Generator.permutation` of a seed.

    >>> sorted(hr.random.permutation(3, seed=0).tolist())
    [0, 1, 2]
    """
    return default_rng(seed).permutation(x)


def choice(
    a: Any, size: Size = None, replace: bool = True, p: Any = None, *, seed: Any = None
) -> Any:
    """`Generator.choice` of a seed.

    >>> hr.random.choice([7, 7], 3, seed=0).tolist()
    [7, 7, 7]
    """
    return default_rng(seed).choice(a, size, replace, p)


def exponential(size: Size = None, scale: float = 1.0, *, seed: Any = None) -> Any:
    """`Generator.exponential` of a seed.

    >>> hr.random.exponential(3, seed=0).shape
    (3,)
    """
    return default_rng(seed).exponential(scale, size)


def poisson(size: Size = None, lam: float = 1.0, *, seed: Any = None) -> Any:
    """`Generator.poisson` of a seed.

    >>> hr.random.poisson(3, seed=0).dtype
    dtype('int64')
    """
    return default_rng(seed).poisson(lam, size)
