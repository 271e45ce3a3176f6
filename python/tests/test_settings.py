# SPDX-License-Identifier: Apache-2.0
"""Settings: each acts at once, a ``with`` block undoes it, and the environment says the first."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import headrace as hr


def run(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import headrace as hr\n{code}"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )


def test_threads_are_set_and_restored() -> None:
    before = hr.threads()
    with hr.threads(3) as count:
        assert count == hr.threads() == 3
        assert hr.info()["threads"] == "3"
        with hr.threads(1):
            assert hr.threads() == 1
        assert hr.threads() == 3
    assert hr.threads() == before
    for bad in (0, -1, 1025):
        with pytest.raises(hr.InvalidArgumentError, match="pass 1 to 1024"):
            hr.threads(bad)
    assert hr.threads() == before


def test_an_error_in_the_block_restores_too() -> None:
    before = hr.threads()
    with pytest.raises(KeyError), hr.threads(3):
        raise KeyError
    assert hr.threads() == before


def test_device_says_why_there_is_no_gpu() -> None:
    assert hr.device() == "cpu"
    with hr.device("auto"):
        found = "auto" if hr._core.built_with_cuda() and not hr._core.why_no_cuda() else "cpu"
        assert hr.info()["device"].startswith(found)
    with hr.device("cpu"):
        assert hr.device() == "cpu"
        if not hr._core.built_with_cuda():
            with pytest.raises(hr.DeviceError, match=r"not include CUDA.*device\('auto'\)"):
                hr.device("cuda")
    with pytest.raises(hr.InvalidArgumentError, match="'cpu', 'cuda', 'sim' or 'auto'"):
        hr.device("gpu")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("variable", "value", "code", "said"),
    [
        ("HEADRACE_THREADS", "3", "hr.threads()", "3"),
        ("HEADRACE_DEVICE", "cpu", "hr.device()", "cpu"),
        ("HEADRACE_SIMD", "base", "hr.info()['simd']", "base"),
        ("HEADRACE_EAGER", "1", "(hr.asarray([1]) + 1)._node.is_ready", "True"),
        ("HEADRACE_STRICT", "1", "hr.threads() and hr.settings._State.strict", "True"),
    ],
)
def test_the_environment_says_the_first_value(
    variable: str, value: str, code: str, said: str
) -> None:
    done = run(f"print({code})", **{variable: value})
    assert done.stdout.strip() == said, done.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HEADRACE_THREADS", "many"), ("HEADRACE_DEVICE", "gpu"), ("HEADRACE_SIMD", "sse9")],
)
def test_a_bad_value_in_the_environment_is_named(variable: str, value: str) -> None:
    done = run("hr.threads(), hr.info(), hr.asarray([1.0]).sum().item()", **{variable: value})
    assert done.returncode != 0
    assert f"'{value}'" in done.stderr
    assert "InvalidArgumentError" in done.stderr


def test_info_is_a_table_of_texts() -> None:
    info = hr.info()
    assert info["headrace"] == hr.__version__
    assert set(info) >= {"python", "system", "threads", "simd", "device", "memory_limit"}
    assert repr(info).splitlines()[0].startswith("headrace")


def test_numpy_and_others_come_late() -> None:
    done = run("import sys; print(sorted({'numpy', 'pandas', 'pyarrow'} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


def test_every_public_name_is_there() -> None:
    for name in hr.__all__:
        assert getattr(hr, name) is not None or name == "NA"
    assert {"eval", "asarray", "DataFrame", "no_copies", "signal", "memory"} <= set(hr.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        hr.nonsense


@pytest.mark.parametrize(
    "name", ["signal", "fft", "learn", "memory", "plot", "report", "demo", "errors"]
)
def test_modules_list_public_names_only(name: str) -> None:
    module = getattr(hr, name)
    assert dir(module) == sorted(module.__all__)
    assert all(getattr(module, each) is not None for each in module.__all__)


def test_completion_offers_documented_names_only() -> None:
    assert dir(hr) == sorted(hr.__all__)
    for value in (hr.DataFrame({"x": [1]}), hr.Series([1]), hr.asarray([1])):
        names = {each for each in dir(type(value)) if not each.startswith("_")}
        for each in names - {"name"}:  # a slot, documented with its class
            assert getattr(type(value), each).__doc__, each


def test_a_function_is_not_set_to_a_value() -> None:
    limit = hr.memory.limit()
    for module, name in ((hr, "threads"), (hr, "device"), (hr.memory, "limit")):
        function = getattr(module, name)
        with pytest.raises(hr.InvalidArgumentError, match=rf"{name}=4; call it: {name}\(4\)"):
            setattr(module, name, 4)
        assert getattr(module, name) is function
    assert hr.memory.limit() == limit
