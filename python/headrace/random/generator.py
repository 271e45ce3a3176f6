# SPDX-License-Identifier: Apache-2.0
"""The generator behind `hr.random`."""

from __future__ import annotations

import math
import operator
import secrets
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.facade import facade
from headrace.frame.columns import is_frame
from headrace.lazy.handle import array_of, mark
from headrace.provenance.sources import note_draw
from headrace.series.column import is_series

if TYPE_CHECKING:
    import numpy.typing as npt

Size = int | tuple[int, ...] | None


def seed_from(source: Any) -> int:
    """A seed of 64 bits from what users pass as `seed` or `random_state`.

    An integer is itself, None is drawn by the system, and a generator of NumPy or of ours gives its
    next number.

    >>> hr.random.seed_from(7)
    7
    """
    if source is None:
        return secrets.randbits(64)
    if isinstance(source, Generator):
        return int(source.integers(1 << 64, dtype="uint64"))
    if isinstance(source, np.random.Generator):
        return int(source.integers(1 << 64, dtype=np.uint64))
    if isinstance(source, np.random.RandomState):
        return int(source.randint(1 << 64, dtype=np.uint64))
    try:
        seed = operator.index(source)
    except TypeError:
        raise TypeMismatchError(
            f"default_rng: not a seed: type={type(source).__name__}; pass an integer, a generator "
            "or None"
        ) from None
    if not 0 <= seed < 1 << 64:
        raise InvalidArgumentError(f"default_rng: not a seed: seed={seed}; pass 0 to 2^64 - 1")
    return seed


def default_rng(seed: Any = None) -> Generator:
    """A generator: of an integer seed, None for one that the system draws; ours is itself.

    >>> rng = hr.random.default_rng(0)
    >>> rng.random(2).tolist() == hr.random.random(2, seed=0).tolist()
    True
    """
    return seed if isinstance(seed, Generator) else Generator(seed_from(seed))


def _checked(word: str, low: float, **values: Any) -> None:
    """Refuse parameters that are not numbers from `low` on."""
    for name, value in values.items():
        if not isinstance(value, int | float | np.number) or math.isnan(value):
            raise TypeMismatchError(f"{word}: {name} must be one number: {name}={value!r:.60}")
        if value < low:
            raise InvalidArgumentError(f"{word}: {name} is below {low}: {name}={value}")


def _float_dtype(word: str, dtype: npt.DTypeLike) -> str:
    name = np.dtype(dtype).name
    if name not in ("float64", "float32"):
        raise TypeMismatchError(f"{word}: no dtype of floats: dtype={name}; use float64 or float32")
    return name


@facade("Generator")
class Generator:
    """What `default_rng` makes. Its methods have the names and arguments of NumPy's generator.

    `size` is a number or a shape, None for one Python number. Draws are made when their line runs,
    on all threads; each call takes a stream of its own, so what a call gives depends on the seed
    and on how many calls came before it.

    >>> hr.random.default_rng(3).permutation(5).tolist()
    [0, 2, 3, 1, 4]
    """

    def __init__(self, seed: int) -> None:
        self._seed, self._stream = seed, 0

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, calls={self._stream})"

    def _draw(self, word: str, size: Size, *words: Any) -> Any:
        """The values of `_core.random_<word>` in the shape that `size` asks for."""
        shape = () if size is None else size if isinstance(size, tuple) else (size,)
        if any(length < 0 for length in shape):
            raise InvalidArgumentError(f"{word}: a negative size: size={size}")
        key = self._seed, self._stream
        self._stream += 1
        mark(f"random_{word}")
        node = getattr(_core, f"random_{word}")(math.prod(shape), *words, *key, there=True)
        if size is not None:
            note_draw(word, (math.prod(shape), *words, *key), node)
        made = array_of(node)
        return made[0].item() if size is None else made if len(shape) == 1 else made.reshape(shape)

    def random(self, size: Size = None, dtype: npt.DTypeLike = "float64") -> Any:
        """Uniform numbers in [0, 1), float64 or float32.

        >>> hr.random.default_rng(0).random((2, 2)).shape
        (2, 2)
        """
        return self._draw("uniform", size, _float_dtype("random", dtype))

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Size = None) -> Any:
        """Uniform numbers in [low, high).

        >>> bool((hr.random.default_rng(0).uniform(5, 6, 100) >= 5).all())
        True
        """
        return self.random(size) * (high - low) + low

    def standard_normal(self, size: Size = None, dtype: npt.DTypeLike = "float64") -> Any:
        """Numbers of the normal distribution with mean 0 and deviation 1, float64 or float32.

        >>> abs(float(hr.random.default_rng(0).standard_normal(10_000).mean())) < 0.05
        True
        """
        return self._draw("normal", size, _float_dtype("standard_normal", dtype))

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Size = None) -> Any:
        """Numbers of the normal distribution with mean `loc` and deviation `scale`.

        >>> abs(float(hr.random.default_rng(0).normal(3, 1, 10_000).mean()) - 3) < 0.05
        True
        """
        _checked("normal", 0.0, scale=scale)
        return self.standard_normal(size) * scale + loc

    def exponential(self, scale: float = 1.0, size: Size = None) -> Any:
        """Numbers of the exponential distribution with mean `scale`.

        >>> abs(float(hr.random.default_rng(0).exponential(2, 10_000).mean()) - 2) < 0.1
        True
        """
        _checked("exponential", 0.0, scale=scale)
        return self._draw("exponential", size, "float64") * scale

    def poisson(self, lam: float = 1.0, size: Size = None) -> Any:
        """Counts of the Poisson distribution with mean `lam`, int64.

        >>> abs(float(hr.random.default_rng(0).poisson(30, 10_000).mean()) - 30) < 0.3
        True
        """
        _checked("poisson", 0.0, lam=lam)
        return self._draw("poisson", size, float(lam))

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: npt.DTypeLike = "int64",
        endpoint: bool = False,
    ) -> Any:
        """Integers from `low` to below `high`, or below `low` from 0, each equally likely.

        `endpoint` includes `high`. An error when the dtype does not hold them.

        >>> hr.random.default_rng(0).integers(1, 6, size=3, endpoint=True).dtype
        dtype('int64')
        """
        if high is None:
            low, high = 0, low
        first, last = operator.index(low), operator.index(high) - (not endpoint)
        limits = np.iinfo(np.dtype(dtype))
        if first > last or first < limits.min or last > limits.max:
            raise InvalidArgumentError(
                f"integers: no integers of the dtype between the bounds: low={low}, high={high}, "
                f"dtype={limits.dtype}"
            )
        drawn = "uint64" if limits.dtype == np.uint64 else "int64"
        made = self._draw(
            "integers", size, drawn, first % (1 << 64), (last - first + 1) % (1 << 64)
        )
        return made if size is None or limits.dtype == drawn else made.astype(limits.dtype)

    def permutation(self, x: Any) -> Any:
        """The numbers below `x`, or the rows of `x`, in random order: a new array or frame.

        >>> sorted(hr.random.default_rng(0).permutation([3, 1, 2]).tolist())
        [1, 2, 3]
        """
        rows = x if isinstance(x, int | np.integer) else len(x)
        order = self._sample(int(rows), int(rows))
        return order if rows is x else _rows(x, order)

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        shuffle: bool = True,
    ) -> Any:
        """Rows of `a`, or numbers below `a`, with or without replacement.

        Parameters
        ----------
        a : int or array_like
            What is drawn from, along its first axis.
        size : int or tuple of int, optional
            How many, and their shape; one by default.
        replace : bool
            Whether one may be drawn more than once.
        p : array_like, optional
            The chance of each; all are alike by default. They must sum to 1.
        shuffle : bool
            Without effect: what is drawn is always in random order.

        >>> sorted(hr.random.default_rng(0).choice(3, 3, replace=False).tolist())
        [0, 1, 2]
        """
        rows = int(a) if isinstance(a, int | np.integer) else len(a)
        shape = () if size is None else size if isinstance(size, tuple) else (size,)
        count = math.prod(shape)
        if rows < 1 and count:
            raise InvalidArgumentError(f"choice: nothing to choose from: rows={rows}")
        if p is not None:
            picked = self._weighted(rows, count, replace, np.asarray(p, np.float64))
        else:
            picked = self.integers(rows, size=count) if replace else self._sample(rows, count)
        made = picked if isinstance(a, int | np.integer) else _rows(a, picked)
        if size is None:
            return made[0].item() if hasattr(made, "item") and made.ndim == 1 else made[0]
        return made if len(shape) == 1 else made.reshape(*shape, *made.shape[1:])

    def _sample(self, rows: int, count: int) -> Any:
        if count > rows:
            raise InvalidArgumentError(
                f"choice: more draws than rows: count={count}, rows={rows}; draw with "
                "replace=True, or fewer"
            )
        key = self._seed, self._stream
        self._stream += 1
        mark("random_sample")
        return array_of(_core.random_sample(rows, count, *key, there=True))

    def _weighted(self, rows: int, count: int, replace: bool, chances: Any) -> Any:
        if chances.shape != (rows,) or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-8:
            raise InvalidArgumentError(
                f"choice: p must be {rows} chances that sum to 1: shape={chances.shape}, "
                f"sum={chances.sum()}"
            )
        if replace:
            ends = np.cumsum(chances)
            drawn = np.asarray(self.random(count))
            return asarray(np.searchsorted(ends / ends[-1], drawn, side="right"))
        possible = np.flatnonzero(chances)
        if count > len(possible):
            raise InvalidArgumentError(
                f"choice: more draws than rows with a chance: count={count}, p above 0="
                f"{len(possible)}"
            )
        # The first of exponential clocks with these rates (P. S. Efraimidis and P. G. Spirakis).
        clocks = np.asarray(self.exponential(size=len(possible))) / chances[possible]
        return asarray(possible[np.argsort(clocks, kind="stable")[:count]])

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators that are independent of this one and of each other.

        >>> len(hr.random.default_rng(0).spawn(2))
        2
        """
        return [Generator(seed_from(self)) for _ in range(n_children)]

    def shuffle(self, x: Any, axis: int = 0) -> NoReturn:
        """Raise UnsupportedError: our arrays never change; `permutation` gives a new one.

        >>> hr.random.default_rng(0).shuffle([1, 2])
        Traceback (most recent call last):
        headrace.UnsupportedError: shuffle: arrays do not change; use x = rng.permutation(x)
        """
        raise UnsupportedError("shuffle: arrays do not change; use x = rng.permutation(x)")


def _rows(source: Any, rows: Any) -> Any:
    """Rows of a source by positions, which go to its device."""
    if is_frame(source) or is_series(source):
        return source.take(rows)
    array = asarray(source)
    place = _core.place_ahead(array._node)
    if _core.place_ahead(rows._node) != place:
        rows = rows.to("cpu" if place == "host" else place)
    return array[rows]
