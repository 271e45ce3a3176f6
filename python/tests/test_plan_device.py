# SPDX-License-Identifier: Apache-2.0
"""Work follows the data: the same answers on the simulated device and on a GPU, if there is one."""

import os
import subprocess
import sys

import numpy as np
import pytest
from headrace.demo import generator, job

import headrace as hr
from headrace import _core

CUDA = _core.built_with_cuda() and not _core.why_no_cuda()


def there(x, device):
    moved = hr.asarray(x).to(device)
    assert moved.device == f"{device}:0"
    return moved


def same(ours, theirs):
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.fixture
def noise():
    return np.random.default_rng(1).standard_normal(300_000)


def test_a_way_there_and_back(device, noise):
    for dtype in ("f8", "f4", "i8", "u1", "?"):
        x = (noise * 3).astype(dtype)
        back = there(x, device).to("cpu")
        assert back.device == "host"
        same(back, x)
    frame = hr.Series(["a", None, "a rather long text", "b"]).to(device)
    assert frame.device == f"{device}:0"
    assert frame.to_list() == ["a", None, "a rather long text", "b"]
    assert hr.asarray([]).to(device).sum().item() == 0


def test_the_buffer_protocol_copies_nothing_from_a_device(device, noise):
    moved = there(noise, device)
    before = _core.ledger_bytes()
    for x in (moved, hr.Series(noise[:9], copy=False).to(device)):
        with pytest.raises(BufferError, match="on a device"):
            memoryview(x)
    assert _core.ledger_bytes() - before <= 72  # the series' own way there
    same(moved, noise)


def test_what_numpy_took_from_a_device_lives_on(device, noise):
    for x in (there(noise, device) * 2, (hr.Series(noise).to(device) * 2)):
        taken = np.asarray(x)
        assert not hasattr(x, "__array_interface__")
        del x
        others = [np.asarray(hr.asarray(noise) + k) for k in range(8)]  # what is free is used again
        same(taken, noise * 2)
        del others


def test_the_ledger_shows_every_way(device, noise):
    before = _core.ledger_bytes()
    moved = there(noise, device)
    assert _core.ledger_bytes() - before == noise.nbytes
    hr.eval(moved * 2 + 1)
    assert _core.ledger_bytes() - before == noise.nbytes
    np.asarray(moved)
    assert _core.ledger_bytes() - before == 2 * noise.nbytes


def test_chains_and_reductions_run_there(device, noise):
    x, here = there(noise, device), hr.asarray(noise)
    for work in (
        lambda v: np.sin(v) ** 2 + np.cos(v) ** 2 == 1,
        lambda v: np.where(v > 0, v, -v).astype("float32"),
        lambda v: (v * 2 + 1).sum(),
        lambda v: v.std(),
        lambda v: v.argmax(),
        lambda v: (v - v.mean()) / v.std(),
        lambda v: v[10:1000] - v[11:1001],
        lambda v: v[::3].max(),
        lambda v: v[5] + 1,
    ):
        same(work(x), work(here))
    assert (x * 2).device == f"{device}:0"
    assert hr.fallbacks() == ()


def test_the_operators_of_a_signal(device, noise):
    s = hr.signal
    x, here = there(noise, device), hr.asarray(noise)
    gate, gate_here = (s.non_max_suppression(v, 31, 1.0) for v in (x, here))
    peaks, peaks_here = s.nonzero(gate), s.nonzero(gate_here)
    assert peaks.device == f"{device}:0"
    same(peaks, peaks_here)
    same(s.diff(peaks), s.diff(peaks_here))
    for arguments in ({"bins": 20}, {"bins": 20, "range": (-1.0, 2.0)}):
        for ours, theirs in zip(
            s.histogram(x, **arguments), s.histogram(here, **arguments), strict=True
        ):
            same(ours, theirs)
    rows, rows_here = (
        s.segments(v, at - 20, width=60, normalize="zscore")
        for v, at in ((x, peaks), (here, peaks_here))
    )
    same(rows, rows_here)
    assert hr.fallbacks() == ()


def test_order_positions_and_running_results(device, noise):
    numbers = (noise * 1000).astype("i8")
    for values in (noise, numbers, noise.astype("f4"), numbers > 0):
        x, here = there(values, device), hr.asarray(values)
        same(hr.sort(x), hr.sort(here))
        same(hr.argsort(x, descending=True), hr.argsort(here, descending=True))
    x, here = there(noise, device), hr.asarray(noise)
    at = there(np.arange(-5, 5000), device)
    same(x[at], here[hr.asarray(np.arange(-5, 5000))])
    with pytest.raises(hr.InvalidArgumentError, match="position out of range: at=1, position='9'"):
        hr.eval(x[:9][there([0, 9], device)])
    for name in ("cumsum", "cumprod", "cummin", "cummax"):
        ours, theirs = (getattr(v.to_series(), name)() for v in (x, here))
        assert ours.device == f"{device}:0"
        same(ours, theirs)
    assert hr.fallbacks() == ()


def test_rows_of_a_frame_in_order(device, noise):
    whole = (noise * 3).astype("i4")
    words = [None if i % 7 == 0 else f"text of some length {i % 1000}" for i in range(20_000)]
    columns = {"k": whole[:20_000], "x": noise[:20_000], "b": noise[:20_000] > 0}
    here = hr.DataFrame({**columns, "w": words})
    moved = hr.DataFrame({name: here[name].to(device) for name in here.columns})
    for by, ascending in (("k", True), (["b", "k"], False), (["k", "x"], [True, False])):
        ours, theirs = (f.sort_values(by, ascending=ascending) for f in (moved, here))
        for name in here.columns:
            assert ours[name].device == f"{device}:0"
            assert ours[name].to_list() == theirs[name].to_list()
        ours, theirs = (f.sort_values(by, ascending=ascending).head(9) for f in (moved, here))
        assert ours["w"].to_list() == theirs["w"].to_list()
    assert hr.fallbacks() == ()


def test_the_whole_job_of_beats(device):
    rate = 360.0
    with hr.device("cpu"):
        here = job.plan(hr.asarray(generator.record().samples), rate)
        curve_here = hr.plot.envelope(here.ecg, width=1000)
        hr.eval(*here, *curve_here)
    with hr.device(device):
        plan = job.plan(there(generator.record().samples, device), rate)
        curve = hr.plot.envelope(plan.ecg, width=1000)
        hr.eval(*plan, *curve)
    for ours, theirs in zip((*plan, *curve), (*here, *curve_here), strict=True):
        assert ours.device == f"{device}:0"
        same(ours, theirs)
    assert len(plan.positions) > 400
    assert hr.fallbacks() == ()


def test_csv_is_parsed_there(device, tmp_path):
    numbers = np.random.default_rng(2).standard_normal(200_000)
    frame = hr.DataFrame({"i": np.arange(200_000), "x": numbers, "y": np.float32(numbers)})
    frame.to_csv(tmp_path / "a.csv", durable=False)
    text = b"i,x,y,b\r\n1,,2.5,true\r\n\r\n-2,1e3, 7 ,NA\r\nNULL,inf,nan,false"
    mixed = (
        "n,s,d,t\n1,plain,2024-02-29,1999-12-31 23:59:59.5\n"
        '2,"quoted, with ""doubled"" quotes and\nlines",NA,2000-01-01T00:00\n'
        'NA,"","1970-01-01",\n4,café and more than twelve bytes,1970-01-02,NA\n'
    ).encode()
    for source, dtypes in ((tmp_path / "a.csv", {"y": "float32"}), (text, None), (mixed, None)):
        here = hr.read_csv(source, dtypes=dtypes)
        with hr.device(device):
            there = hr.read_csv(source, dtypes=dtypes)
            scanned = hr.scan_csv(source, dtypes=dtypes)
            hr.eval(scanned)
        assert hr.fallbacks() == ()
        for name in here.columns:
            assert there[name].device == scanned[name].device == f"{device}:0"
            assert repr(there[name].to_list()) == repr(here[name].to_list())
            assert repr(scanned[name].to_list()) == repr(here[name].to_list())
            assert there[name][1:3].count() == here[name][1:3].count()  # nulls of a part
        there.to_csv(tmp_path / "b.csv", durable=False)
        here.to_csv(tmp_path / "c.csv", durable=False)
        assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()
        _core.clear_fallbacks()
    with hr.device(device):
        with pytest.raises(hr.InputError, match="line=4, column=2"):
            hr.read_csv(b"a,b\n1,2\n\n3,x\n", dtypes="int64")
        words = hr.read_csv(b"a,b\n1,x\n2,y\n", dtypes={"b": "category"})
    assert words["b"].to_list() == ["x", "y"]
    found = [(op, reason) for op, reason, _ in hr.fallbacks()]
    expected = [("read_csv", "read_csv: columns of category have no kernel")]
    assert found[:1] == (expected if device == "cuda" else [])


def test_csv_files_are_one_frame_there(device, tmp_path):
    frame = hr.DataFrame({"i": np.arange(1000), "s": [f"text number {i}" for i in range(1000)]})
    for k, rows in enumerate((300, 0, 1000, 7)):
        frame[:rows].to_csv(tmp_path / f"{k}.csv", durable=False)
    here = hr.read_csv(tmp_path, include_file_paths="path")
    with hr.device(device):
        there = hr.read_csv(tmp_path, include_file_paths="path")
        assert hr.fallbacks() == ()
        for name in here.columns:
            assert there[name].to_list() == here[name].to_list()
        assert there["s"].device == f"{device}:0"
        (tmp_path / "2.csv").write_text("i,s\n1,x\n\n2,y,z\n")
        with pytest.raises(hr.InputError, match=r"2\.csv', line=4"):
            hr.read_csv(tmp_path)
        _core.clear_fallbacks()
        (tmp_path / "2.csv").write_text("s,i\nx,1\n")
        assert hr.read_csv(tmp_path)["i"].to_list()[-8:] == [1, 0, 1, 2, 3, 4, 5, 6]
    expected = [("read_csv", "read_csv: the files have other fields or other syntax")]
    found = [(op, reason) for op, reason, _ in hr.fallbacks()]
    assert found[:1] == (expected if device == "cuda" else [])


def test_the_job_from_its_text_on(device, tmp_path):
    rate, path = 360.0, tmp_path / "ecg.csv"
    samples = np.tile(generator.record().samples, 3)
    hr.DataFrame({"ecg": samples}).to_csv(path, float_format="%.18e", durable=False)

    def results():
        ecg = hr.asarray(hr.scan_csv(path, dtypes="float32")["ecg"])
        plan, curve = job.plan(ecg, rate), hr.plot.envelope(ecg, width=1000)
        model = hr.learn.PCA(2).fit(plan.beats)
        return *plan, *curve, model.components_, model.transform(plan.beats)

    here = results()
    hr.eval(*here)
    before = _core.ledger_bytes()
    with hr.device(device):
        there = results()
        hr.eval(*there)
    moved = _core.ledger_bytes() - before
    # Nothing but the text, without its header, went over the bus, and the wavelet.
    text = path.stat().st_size - len("ecg\n") if device == "cuda" else samples.size * 4
    assert 0 <= moved - text < 8192
    for ours, theirs in zip(there, here, strict=True):
        assert ours.device == f"{device}:0"
        same(ours, theirs)
    assert hr.fallbacks() == ()


def test_a_pca_has_the_same_bits(device, noise):
    for dtype in ("f4", "f8"):
        x = noise.reshape(-1, 60).astype(dtype) * np.linspace(1, 3, 60).astype(dtype)
        moved = there(x, device)
        ours, theirs = hr.learn.PCA(5).fit(moved), hr.learn.PCA(5).fit(x)
        for name in ("mean_", "components_", "explained_variance_"):
            same(getattr(ours, name), getattr(theirs, name))
            assert getattr(ours, name).device == f"{device}:0"
        assert ours.noise_variance_ == theirs.noise_variance_
        latent = ours.transform(moved)
        same(latent, theirs.transform(x))
        same(ours.inverse_transform(latent), theirs.inverse_transform(theirs.transform(x)))
        same(ours.reconstruction_error(moved), theirs.reconstruction_error(x))
    assert hr.fallbacks() == ()


def test_rows_picked_by_a_mask(device, noise):
    x, here = there(noise, device), hr.asarray(noise)
    same(x[x > 0.5], here[here > 0.5])
    same(x[1:][x[:-1] > 9], here[1:][here[:-1] > 9])
    rows, rows_here = there(noise.reshape(-1, 3), device), hr.asarray(noise.reshape(-1, 3))
    same(rows[x[:100_000] < 0], rows_here[here[:100_000] < 0])
    column, column_here = hr.Series(noise).to(device), hr.Series(noise)
    same(column[column > 0], column_here[column_here > 0])
    assert hr.fallbacks() == ()


def test_what_has_no_kernel_falls_back_and_says_so(device, noise):
    x = there(noise, device)
    spectrum = hr.fft.rfft(x)
    same(spectrum, hr.fft.rfft(hr.asarray(noise)))
    if device == "sim":
        assert hr.fallbacks() == ()  # it has all operators
        return
    assert spectrum.device == "cuda:0"
    assert hr.fallbacks()[0][0] == "rfft"
    with hr.strict(), pytest.raises(hr.DeviceError, match=r"strict\(\) allows no fallback"):
        hr.eval(hr.fft.rfft(x))


def test_inputs_on_the_host_follow_the_others(device, noise):
    x, frame = there(noise, device), hr.DataFrame({"a": noise, "b": noise > 0})
    total = frame["a"].to(device).where(frame["b"], 2.5)
    assert str(total.explain()).count(f"to [{device}:0]") == 2
    before = _core.ledger_bytes()
    hr.eval(total)
    assert total.device == f"{device}:0"
    assert _core.ledger_bytes() - before == noise.nbytes + (noise.size + 7) // 8
    same(total, np.where(noise > 0, noise, 2.5))
    same(x + hr.asarray(noise), noise + noise)
    same(x + hr.asarray(2.5), noise + 2.5)  # a number is no place
    assert hr.fallbacks() == ()


def test_an_unknown_device_is_an_error():
    with pytest.raises(hr.InvalidArgumentError, match="unknown device: device='gpu'"):
        hr.asarray([1.0]).to("gpu")
    if not CUDA:
        with pytest.raises(hr.DeviceError):
            hr.asarray([1.0]).to("cuda")


def test_host_data_have_no_cuda_interface(device, noise):
    assert not hasattr(hr.asarray(noise), "__cuda_array_interface__")
    assert not hasattr(hr.Series([1.0]), "__cuda_array_interface__")
    assert hasattr(there(noise, device), "__cuda_array_interface__") == (device == "cuda")


def test_the_environment_chooses_where_new_data_go(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n3,z\n")
    code = f"""
import headrace as hr
assert hr.device() == "sim"
frame = hr.read_csv({str(path)!r})
assert frame["a"].device == "sim:0", frame["a"].device
assert frame["a"].sum().item() == 6
assert hr.signal.ricker(100, 4.0).device == "sim:0"
assert frame["b"].to_list() == ["x", "y", "z"]
with hr.device("cpu"):
    assert hr.signal.ricker(100, 4.0).device == "host"
print(hr.info()["device"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HEADRACE_DEVICE": "sim:limit=64MB"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sim")


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_other_libraries_share_the_memory(noise):
    cupy = pytest.importorskip("cupy")
    torch = pytest.importorskip("torch")
    x = there(noise, "cuda")
    # PyTorch takes no read-only memory by this interface, but it does by DLPack.
    address = x.__cuda_array_interface__["data"][0]
    assert cupy.asarray(x).data.ptr == address
    assert torch.from_dlpack(x).data_ptr() == address
    assert cupy.from_dlpack(x).data.ptr == address
    same(cupy.asnumpy(cupy.asarray(x * 2)), noise * 2)
    for theirs in (cupy.asarray(noise), torch.as_tensor(noise, device="cuda")):
        ours = hr.asarray(theirs)
        assert ours.device == "cuda:0"
        pointer = theirs.data.ptr if hasattr(theirs.data, "ptr") else theirs.data_ptr()
        assert ours.__cuda_array_interface__["data"][0] == pointer
        same((ours + 1).sum(), (hr.asarray(noise) + 1).sum())


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_a_kernel_that_fails_later_is_named():
    # In a process of its own, for which CUDA does no more work behind this.
    pytest.importorskip("cupy")
    script = """
import cupy as cp
import headrace as hr

nowhere = cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(1 << 40, 1 << 23, None, 0), 0)
good = hr.asarray([1.0, 2.0]).to("cuda")
there = hr.signal.diff(hr.asarray(cp.ndarray(1 << 20, "f8", nowhere)))
hr.eval(there)  # returns: nothing waits for the kernel
try:
    there.to_numpy()
except hr.DeviceError as error:
    print(error, end="=====")
try:
    hr.eval(good + 1)
except hr.DeviceError as error:
    print(error, end="=====")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second, _ = done.stdout.split("=====")
    assert first.startswith("diff: a kernel failed: error='CUDA_ERROR_ILLEGAL_ADDRESS'")
    assert "restart the process" in first
    assert "restart the process" in second, second


def test_reductions_of_frames_are_labelled_values(device: str) -> None:
    df = hr.DataFrame({"a": [1, 2, 6], "b": [3.5, 4.0, 9.0]}).to(device)
    assert df.mean().to_dict() == {"a": 3.0, "b": 5.5}
    assert (df - df.mean()).a.to_list() == [-2.0, -1.0, 3.0]
    assert df.isna().sum().sum().item() == 0
    assert (df.max() - df.min()).sort_values().to_dict() == {"a": 5.0, "b": 5.5}


def test_one_value_for_all_rows_is_where_the_rows_are(device: str) -> None:
    df = hr.DataFrame({"a": [1, 2, 6], "b": [3.5, 4.0, 9.0]}).to(device)
    for column in (df.a.isna(), df.assign(z=1.5).z, df.assign(z="a text").z):
        assert column.device == df.a.device == f"{device}:0"
    assert df.assign(z=1).groupby("z").a.sum().to_dict() == {1: 9}
    assert df.assign(z="t").merge(df.assign(w=2), on="a").w.to_list() == [2, 2, 2]
    assert hr.DataFrame({"a": [1, 2]}).assign(z=1).sort_values("z").to_dict() == {
        "a": [1, 2],
        "z": [1, 1],
    }
