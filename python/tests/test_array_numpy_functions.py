# SPDX-License-Identifier: Apache-2.0
"""Every function and ufunc of NumPy on our arrays: ours, by NumPy and said, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import overrides

import headrace as hr

FUNCTIONS = sorted(
    overrides.get_overridable_numpy_array_functions(), key=lambda f: f"{f.__module__}.{f.__name__}"
)
UFUNCS = sorted(overrides.get_overridable_numpy_ufuncs(), key=lambda f: f.__name__)
LINE, OTHER = np.array([3.0, 1.0, 2.0, 2.5]), np.array([1.0, 0.5, 4.0, 2.0])
MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
COUNTS = np.array([0, 2, 1, 1])
MASK = np.array([True, False, True, True])


def calls() -> Iterator[tuple[Any, ...]]:
    """Arguments that most functions take one or the other of."""
    for x in (LINE, MATRIX, COUNTS, MASK, LINE * 1j):
        yield (x,)
        yield ([x, x],)
        yield x, 0
        yield x, 1
        yield x, 2
        yield x, x
        yield x, (1, -1)
    yield MATRIX, LINE[:3]
    yield LINE, COUNTS
    yield MASK, LINE
    yield MASK, LINE, OTHER
    yield LINE, LINE, OTHER
    yield LINE, 0, 1
    yield LINE, OTHER, COUNTS
    yield LINE, [0, 2], 9.0
    yield MATRIX, 0, 1
    yield "i,i->", LINE, OTHER
    yield [MASK], [LINE]


def ours(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        frozen = value.copy()
        frozen.flags.writeable = False
        return hr.asarray(frozen)
    if isinstance(value, list):
        return [ours(each) for each in value]
    return value


def parts(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [part for each in value for part in parts(each)]
    return [value]


def compare(call: Any, args: tuple[Any, ...]) -> bool:
    """Whether NumPy takes the arguments; then our answer is equal and no array of NumPy's."""
    copied = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in args)
    try:
        expected = call(*copied)
    except Exception:
        return False
    given = tuple(ours(each) for each in args)
    dispatches = any(isinstance(each, hr.Array) for each in given)  # NumPy tells us of no list
    try:
        made = call(*given)
    except (hr.Error, TypeError) as error:
        assert str(error), call
        return True  # refused, with the reason
    except Exception:
        of_elements = call.__name__ in OF_SEQUENCES
        assert of_elements or not dispatches, f"{call.__name__}: an error without a reason"
        return True
    if getattr(call, "__name__", "") in CONVERSIONS:
        return True
    for mine, theirs in zip(parts(made), parts(expected), strict=True):
        if dispatches and call.__name__ not in OF_SEQUENCES:
            assert not isinstance(mine, np.ndarray), f"{call.__name__}: a silent ndarray"
        if isinstance(mine, hr.Array):
            theirs = np.asarray(theirs)
            assert mine.shape == theirs.shape, call.__name__
            exact = theirs.dtype.kind in "biu"
            close = 1e-2 if theirs.dtype == np.float16 else 1e-12
            np.testing.assert_allclose(
                mine.to_numpy(), theirs, rtol=0 if exact else close, atol=0 if exact else close
            )
    return True


#: They make arrays of NumPy's by their name, of no particular values, or of structures.
CONVERSIONS = {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require"}
CONVERSIONS |= {"asarray_chkfinite", "empty", "empty_like", "frombuffer", "full", "ones", "zeros"}
CONVERSIONS |= {"merge_arrays", "stack_arrays", "unstructured_to_structured", "eigh", "eig", "svd"}
CONVERSIONS |= {"unique_values", "reciprocal"}  # in no order; of an integer 0
#: They take a list of arrays: of one array they get the elements.
OF_SEQUENCES = {"block", "bmat", "choose", "column_stack", "concatenate", "dstack", "hstack"}
OF_SEQUENCES |= {"lexsort", "piecewise", "poly", "roots", "select", "stack", "stack_arrays"}
OF_SEQUENCES |= {"vstack", "ix_"}

RANDOM_OR_FILES = {
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "genfromtxt",
    "loadtxt",
    "fromfile",
}
RANDOM_OR_FILES |= {"fromregex", "ndfromtxt", "mafromtxt", "recfromcsv", "recfromtxt"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__name__}")
@pytest.mark.filterwarnings("ignore")
def test_functions(function: Any) -> None:
    if function.__name__ in RANDOM_OR_FILES:
        pytest.skip("reads and writes files")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in calls():
            compare(function, args)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")
def test_ufuncs(ufunc: Any) -> None:
    # Some of NumPy's ufuncs of strings end the process when they reduce.
    joins = ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None
    joins &= any("d" in each or "?" in each for each in ufunc.types)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in calls():
            if len(args) == ufunc.nin and not any(isinstance(each, list) for each in args):
                compare(ufunc, args)
                if joins:
                    compare(ufunc.reduce, args[:1])
                    compare(ufunc.accumulate, args[:1])
                    compare(ufunc.outer, args)


LINES = [{}, {"n": 5}, {"n": 12, "norm": "ortho"}, {"axis": 0, "norm": "forward"}]
SEVERAL = [{}, {"axes": (0,)}, {"s": (3, -1), "axes": (1, 0)}, {"norm": "ortho"}]
TRANSFORMS = {
    **{name: LINES for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: SEVERAL for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: [{}, {"s": (3, 5)}] for name in ("fft2", "ifft2", "rfft2", "irfft2")},
    **{name: [{}, {"axes": 0}] for name in ("fftshift", "ifftshift")},
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.filterwarnings("ignore")
def test_transforms_are_our_own(name: str) -> None:
    transform = getattr(np.fft, name)
    cube = np.random.default_rng(1).normal(size=(4, 5, 6))
    calls = list(TRANSFORMS[name])
    if name in ("fftn", "ifftn", "rfftn", "irfftn"):
        calls.append({"axes": (-1, 0, 0)})
    for x in (cube, cube[0], cube.astype("float32"), (cube * 9).astype("int64")):
        for options in calls:
            wanted = transform(x, **options)
            with hr.strict():
                got = transform(ours(x), **options)
            assert type(got) is hr.Array
            assert got.dtype == wanted.dtype
            near = 1e-5 if wanted.dtype in ("float32", "complex64") else 1e-12
            np.testing.assert_allclose(got.to_numpy(), wanted, atol=near)


def test_transforms_refuse_as_numpy() -> None:
    for call in (
        lambda x: np.fft.hfft(x, norm="none"),
        lambda x: np.fft.fft(x, n=0),
        lambda x: np.fft.rfftn(x, axes=()),
        lambda x: np.fft.irfftn(x, axes=()),
        lambda x: np.fft.fft(x, axis=3),
    ):
        with pytest.raises((ValueError, IndexError)):
            call(LINE)
        with pytest.raises((ValueError, IndexError)):
            call(ours(LINE))


def test_a_result_that_numpy_made_is_listed() -> None:
    x = ours(LINE)
    made = np.percentile(x, [20, 50])
    assert isinstance(made, hr.Array)
    assert "percentile" in {each[0] for each in hr.fallbacks()}
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="percentile"):
        np.percentile(x, 50)
    for call in (lambda: np.add(x, 1, out=x), lambda: np.copyto(x, 1), lambda: np.put(x, 0, 1)):
        with pytest.raises((hr.UnsupportedError, TypeError)):
            call()


def test_dask_arrays_hold_chunks_of_ours():
    da = pytest.importorskip("dask.array")
    n = np.random.default_rng(0).normal(size=(700, 40))
    chunked = da.from_array(hr.asarray(n), chunks=(300, 20), asarray=False)
    for task in (
        lambda a: a.sum(),
        lambda a: a.mean(axis=0),
        lambda a: a.std(axis=1),
        lambda a: np.exp(a) + 1,
        lambda a: a.T @ a,
        lambda a: a[10:600:3, 5],
        lambda a: a.max(axis=1),
        lambda a: a.argmax(axis=0),
        lambda a: a.cumsum(axis=0),
        lambda a: np.concatenate([a, a]),
        lambda a: np.where(a > 0, a, 0),
    ):
        found = task(chunked).compute(scheduler="synchronous")
        assert isinstance(found, hr.Array)
        np.testing.assert_allclose(found.to_numpy(), task(n), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"norm": 3}) for name in ("fft", "irfft", "hfft", "fftn", "rfftn")),
        *((name, {"s": (2, 2, 2)}) for name in ("fftn", "ifftn", "rfftn", "irfftn")),
        *((name, {"axes": ()}) for name in ("fftn", "rfftn", "irfftn", "fftshift")),
        *(
            (name, {"axes": (0, 0)})
            for name in ("fftn", "rfftn", "irfftn", "fftshift", "ifftshift")
        ),
        *((name, {"n": n}) for name in ("fft", "rfft", "irfft", "ihfft") for n in (0, -1)),
        *((name, {"axis": axis}) for name in ("fft", "rfft", "irfft") for axis in (2, -3)),
    ],
)
@pytest.mark.filterwarnings("ignore:.*`axes` should not be `None`:DeprecationWarning")
def test_transforms_refuse_what_numpy_refuses(name: str, options: dict[str, Any]) -> None:
    n = np.arange(12.0).reshape(3, 4)
    function = getattr(np.fft, name)
    try:
        expected = function(n, **options)
    except (ValueError, IndexError) as error:
        kinds = tuple(kind for kind in (ValueError, IndexError) if isinstance(error, kind))
        with pytest.raises(kinds):
            function(hr.asarray(n), **options)
    else:
        given = np.asarray(function(hr.asarray(n), **options))
        np.testing.assert_allclose(given, expected, atol=1e-12)
