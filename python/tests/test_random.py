# SPDX-License-Identifier: Apache-2.0
"""hr.random: distributions, shapes and errors of draws, and that threads do not change them."""

import numpy as np
import pytest

import headrace as hr

stats = pytest.importorskip("scipy.stats")
N = 200_000


def rng():
    return hr.random.default_rng(42)


@pytest.mark.parametrize(
    "draw, distribution",
    [
        (lambda g: g.random(N), stats.uniform()),
        (lambda g: g.random(N, dtype="float32"), stats.uniform()),
        (lambda g: g.uniform(-3, 5, N), stats.uniform(-3, 8)),
        (lambda g: g.standard_normal(N), stats.norm()),
        (lambda g: g.normal(2, 0.5, N), stats.norm(2, 0.5)),
        (lambda g: g.exponential(3.0, N), stats.expon(scale=3.0)),
    ],
)
def test_continuous(draw, distribution):
    values = np.asarray(draw(rng()))
    assert stats.kstest(values, distribution.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.01
    assert len(np.unique(values)) > 0.9 * N or values.dtype == np.float32


@pytest.mark.parametrize("lam", [0.3, 4.0, 9.99, 10.0, 12.5, 80.0, 4000.0])
def test_poisson(lam):
    values = np.asarray(rng().poisson(lam, N))
    expected = stats.poisson(lam)
    edges = np.unique(expected.ppf(np.linspace(0.005, 0.995, 25))).astype(int)
    counts = np.histogram(values, [-1, *(edges + 1), 1 << 60])[0]
    chances = np.diff([0.0, *expected.cdf(edges), 1.0])
    assert stats.chisquare(counts, chances * N).pvalue > 1e-3


def test_poisson_of_nothing():
    assert np.asarray(rng().poisson(0.0, 5)).tolist() == [0] * 5


@pytest.mark.parametrize("low, high", [(0, 7), (-5, 5), (10, 11), (0, 1 << 20)])
def test_integers(low, high):
    values = np.asarray(rng().integers(low, high, N))
    assert values.min() >= low and values.max() < high
    bins = min(high - low, 64)
    if bins > 1:
        counts = np.bincount((values - low) * bins // (high - low), minlength=bins)
        assert stats.chisquare(counts).pvalue > 1e-3


def test_integers_of_dtypes():
    g = rng()
    assert g.integers(256, size=9, dtype="uint8").dtype == "uint8"
    whole = np.asarray(g.integers(0, (1 << 64) - 1, 1000, dtype="uint64", endpoint=True))
    assert whole.dtype == np.uint64 and whole.max() > 1 << 63
    signed = np.asarray(g.integers(-(1 << 63), (1 << 63) - 1, 1000, endpoint=True))
    assert signed.min() < -(1 << 62) and signed.max() > 1 << 62
    with pytest.raises(hr.InvalidArgumentError, match="between the bounds: low=0, high=300"):
        g.integers(300, dtype="int8")
    with pytest.raises(hr.InvalidArgumentError, match="between the bounds"):
        g.integers(3, 3)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_nothing(threads):
    def drawn():
        g = rng()
        draws = g.random(50_001), g.normal(size=50_001), g.permutation(50_001), g.poisson(50, 999)
        return [np.asarray(part).tobytes() for part in draws]

    expected = drawn()
    with hr.threads(threads):
        assert drawn() == expected


def test_calls_differ_and_seeds_repeat():
    g = rng()
    first, second = g.random(10).tolist(), g.random(10).tolist()
    assert first != second and rng().random(10).tolist() == first
    assert hr.random.default_rng(43).random(10).tolist() != first
    assert hr.random.default_rng().random(3).tolist() != hr.random.default_rng().random(3).tolist()
    assert hr.random.default_rng(g) is g
    for source in (np.random.default_rng(1), np.random.RandomState(1), g.spawn(1)[0]):
        assert 0 <= hr.random.default_rng(source).random() < 1


def test_shapes():
    g = rng()
    assert isinstance(g.random(), float) and isinstance(g.integers(5), int)
    assert g.random((2, 3, 4)).shape == (2, 3, 4) and g.random(()).shape == ()
    assert g.random(0).tolist() == [] and g.normal(1, 2, (0, 3)).shape == (0, 3)
    assert g.random(3, dtype=np.float32).dtype == "float32"


def test_permutation():
    g = rng()
    assert sorted(g.permutation(1000).tolist()) == list(range(1000)) != g.permutation(1000).tolist()
    rows = g.permutation(np.arange(20).reshape(10, 2))
    assert sorted(np.asarray(rows)[:, 0].tolist()) == list(range(0, 20, 2))
    frame = g.permutation(hr.DataFrame({"a": range(50), "b": range(50)}))
    assert frame.a.to_list() == frame.b.to_list() != list(range(50))
    positions = np.array([g.permutation(5).tolist() for _ in range(2000)])
    for column in positions.T:
        assert stats.chisquare(np.bincount(column, minlength=5)).pvalue > 1e-3


def test_choice():
    g = rng()
    chances = [0.5, 0.25, 0.25, 0.0]
    counts = np.bincount(np.asarray(g.choice(4, 10_000, p=chances)), minlength=4)
    assert counts[3] == 0 and stats.chisquare(counts[:3], np.array(chances[:3]) * 1e4).pvalue > 1e-3
    assert sorted(g.choice([5, 6, 7], 3, replace=False).tolist()) == [5, 6, 7]
    first = [g.choice(3, 1, replace=False, p=[0.7, 0.2, 0.1]).tolist()[0] for _ in range(2000)]
    assert stats.chisquare(np.bincount(first), [1400, 400, 200]).pvalue > 1e-3
    assert g.choice(10, (2, 3)).shape == (2, 3) and g.choice([4]) == 4
    for words in ((3, 4, False), (3, 2, False, [1, 0, 0]), (3, 1, True, [0.5, 0.5]), (0, 1)):
        with pytest.raises(hr.InvalidArgumentError, match="choice"):
            g.choice(*words)


def test_errors():
    g = rng()
    for call, error in [
        (lambda: g.normal(scale=-1), hr.InvalidArgumentError),
        (lambda: g.poisson([1, 2]), hr.TypeMismatchError),
        (lambda: g.random(-1), hr.InvalidArgumentError),
        (lambda: g.random(2, dtype="int64"), hr.TypeMismatchError),
        (lambda: g.shuffle([1]), hr.UnsupportedError),
        (lambda: hr.random.default_rng(-1), hr.InvalidArgumentError),
        (lambda: hr.random.default_rng("a"), hr.TypeMismatchError),
    ]:
        with pytest.raises(error):
            call()
