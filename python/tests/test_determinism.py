# SPDX-License-Identifier: Apache-2.0
"""Every output has the same bits for any number of threads and at any SIMD level.

Run as a program it prints a digest of each output, for comparison between processes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

ROWS = 3 * 2**17 + 777  # several morsels and a rest
OUTPUTS: dict[str, Callable[[], Any]] = {}


def output(make: Callable[[], Any]) -> Callable[[], Any]:
    OUTPUTS[make.__name__] = make
    return make


@functools.cache
def signal(dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(7)
    x = np.cumsum(rng.normal(size=ROWS)) + 10.0 ** rng.integers(-6, 6, ROWS) * rng.normal(size=ROWS)
    x = x.astype(dtype)
    x.flags.writeable = False  # so that chains stay deferred and run fused
    return x


@functools.cache
def frame() -> hr.DataFrame:
    x = [None if i % 97 == 0 else float(v) for i, v in enumerate(signal()[:150_001])]
    texts = [f"t{i % 1000}" * (i % 5) for i in range(150_001)]
    return hr.DataFrame({"x": x, "i": list(range(150_001)), "s": texts})


def reductions(x: hr.Array | hr.Series) -> list[Any]:
    return [getattr(x, name)() for name in ("sum", "mean", "var", "std", "min", "max")]


@output
def reduce_float64() -> Any:
    x = hr.asarray(signal())
    return [*reductions(x), x.argmin(), x.argmax(), (x * 1e-9 + 1).prod()]


@output
def reduce_float32() -> Any:
    return reductions(hr.asarray(signal("float32")))


@output
def reduce_integers() -> Any:
    return reductions(hr.asarray((signal() * 1000).astype("int32")))


@output
def reduce_columns() -> Any:
    x = frame().x
    return [*reductions(x), x.count(), x.quantile([0.1, 0.5, 0.9]), reductions(x[x > 0])]


@output
def reduce_axis() -> Any:
    x = hr.asarray(signal()[: 3 * 2**17].reshape(-1, 384))
    short = [x[:, :n].sum(axis=axis) for n in (1, 7, 33, 60, 383) for axis in (0, 1)]
    single = x.astype("float32")[:, :375]
    more = [single.sum(axis=1), single.max(axis=0), x[:77].sum(axis=0), x[:77, :45].prod(axis=1)]
    return [x.sum(axis=0), x.mean(axis=1), x.std(axis=0), x.T.sum(axis=0), *short, *more]


@output
def reduce_chain() -> Any:
    x = hr.asarray(signal())
    return reductions((x * x - x) / (abs(x) + 1))


@output
def describe() -> Any:
    return [frame().describe().x.to_array()]


@output
def arithmetic() -> Any:
    x = hr.asarray(signal())
    return [x * 2 + x / 3, x // 7, x % 7, np.sqrt(abs(x)), np.rint(x), x > 0, x.astype("float32")]


@output
def elementary() -> Any:
    x = hr.asarray(signal()) / 100
    return [np.exp(np.sin(x)), np.log1p(abs(x)), np.arctan(x), np.tanh(x), abs(x) ** 1.7]


@output
def selection() -> Any:
    df = frame()
    picked = df[df.x > 0]
    return [
        picked.x,
        picked.i,
        picked.s,
        df.x.dropna(),
        df.i[np.arange(0, 150_001, 3)],
        df.s.head(7),
    ]


@output
def csv_round_trip() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        frame().to_csv(path)
        text = path.read_bytes()
        back = hr.read_csv(str(path))
        return [text, back.x, back.i, back.s]


@output
def ricker() -> Any:
    return [hr.signal.ricker(1001, 37.5)]


@output
def convolve_direct() -> Any:
    return [hr.signal.fft_convolve(signal(), np.arange(1.0, 9.0), "full")]


@output
def convolve_fft() -> Any:
    taps = hr.signal.ricker(501, 60.0)
    return [hr.signal.fft_convolve(signal(d), taps.astype(d)) for d in ("float64", "float32")]


@output
def fft() -> Any:
    x = signal()[:4000].reshape(10, 400)
    return [hr.fft.fft(x), hr.fft.rfft(x), hr.fft.ifft(hr.fft.fft(x))]


@output
def fft_long() -> Any:
    return [hr.fft.rfft(signal()[: 2**18]), hr.fft.fft(signal()[:100_003])]


@output
def fft_of_axes() -> Any:
    fftn = hr.array_api.fft.fftn
    x = hr.asarray(signal()[: 48 * 4099].reshape(48, 4099))
    y = x[:, :1210].astype("complex64").reshape(48, 11, 110)
    return [fftn(x), fftn(y), fftn(x.reshape(4099, 48) + 1j, axes=(0,)), hr.fft.irfft(x, 999)]


@output
def spectra() -> Any:
    x = hr.asarray(signal())
    s = hr.signal
    parts = s.stft(x, nperseg=500)[2]
    picture, mask = x[: 600 * 650].reshape(600, 650), x[: 31 * 33].reshape(31, 33)
    spectrum = s.welch(x, nperseg=1000)[1]
    return [parts, s.istft(parts, nperseg=500)[1], s.convolve2d(picture, mask), spectrum]


@output
def non_max_suppression() -> Any:
    gate = hr.signal.non_max_suppression(signal(), 101, 0.0)
    return [gate, hr.signal.nonzero(gate), hr.signal.diff(hr.signal.nonzero(gate))]


@output
def histogram() -> Any:
    return [
        *hr.signal.histogram(signal(), 100),
        *hr.signal.histogram(signal("float32"), [-5, 0, 9]),
    ]


@output
def windows() -> Any:
    begins = np.arange(0, ROWS, 250)
    kinds = ("none", "zscore", "minmax", "max")
    return [hr.signal.segments(signal(), begins, width=200, normalize=kind) for kind in kinds]


@output
def pictures() -> Any:
    low, high = hr.plot.envelope(signal(), width=999)
    drawn = hr.plot.raster_envelope(low, high, -500, 500, 120)
    cells = hr.plot.raster_points(signal(), signal()[::-1], (-500, 500), (-500, 500), 90, 80)
    return [low, high, drawn, cells, hr.plot.encode_png(drawn), hr.plot.pyramid(signal()).codes]


@output
def pca() -> Any:
    x = signal()[: 2**17].reshape(-1, 64)
    model = hr.learn.PCA(5).fit(x)
    return [model.components_, model.transform(x), model.reconstruction_error(x)]


def digest(value: Any) -> str:
    """A digest of all bits of an output."""
    if isinstance(value, list):
        return hashlib.sha256("".join(map(digest, value)).encode()).hexdigest()
    if isinstance(value, hr.Series):
        value = repr([str(value.dtype), value.to_list()]).encode()
    elif isinstance(value, hr.Array):
        value = np.ascontiguousarray(value.to_numpy()).tobytes()
    return hashlib.sha256(value).hexdigest()


@functools.cache
def with_three_threads(name: str) -> str:
    with hr.threads(3):
        return digest(OUTPUTS[name]())


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", OUTPUTS)
def test_threads_change_no_bit(name: str, threads: int) -> None:
    expected = with_three_threads(name)
    with hr.threads(threads):
        assert digest(OUTPUTS[name]()) == expected


@functools.cache
def at_level(level: str) -> tuple[str, dict[str, str]]:
    """The level that the machine has, and the digests at it."""
    env = {**os.environ, "HEADRACE_SIMD": level}
    run = subprocess.run(
        [sys.executable, __file__], env=env, capture_output=True, text=True, check=True
    )
    found, digests = json.loads(run.stdout)
    return found, digests


@pytest.mark.parametrize("level", ["base", "avx2", "avx512"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_simd_levels_change_no_bit(name: str, level: str) -> None:
    found, digests = at_level(level)
    if found != level:
        pytest.skip(f"this machine has no {level}")
    assert digests[name] == with_three_threads(name)


def test_eager_execution_changes_no_bit() -> None:
    env = {**os.environ, "HEADRACE_EAGER": "1"}
    run = subprocess.run(
        [sys.executable, __file__], env=env, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout)[1] == {name: with_three_threads(name) for name in OUTPUTS}


def test_small_morsels_are_set_by_the_environment() -> None:
    text = "import headrace as hr; print(hr.Series([1, 2]).sum(), hr._core.morsel_rows())"
    for rows, said in (("192", "3 192\n"), ("100", "a multiple of 64")):
        run = subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "HEADRACE_MORSEL_ROWS": rows},
            capture_output=True,
            text=True,
            check=False,
        )
        assert said in run.stdout + run.stderr


if __name__ == "__main__":
    found = {name: digest(make()) for name, make in OUTPUTS.items()}
    print(json.dumps([hr.info()["simd"], found]))
