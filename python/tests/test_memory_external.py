# SPDX-License-Identifier: Apache-2.0
"""Other libraries that allocate from us: NumPy for real, those of a GPU beside a made-up driver."""

import contextvars
import ctypes
import gc
import os
import subprocess
import sys
import textwrap
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import _core

MB = 10**6
np.random.default_rng(0)  # modules of NumPy that come late keep small arrays of their own


def handler_name():
    return np._core.multiarray.get_handler_name()


def external():
    return hr.memory.stats().external_bytes


@pytest.fixture(autouse=True)
def clean():
    gc.collect()
    hr.memory.trim()
    before = external()
    yield
    gc.collect()
    hr.memory.trim()
    assert external() == before == 0, hr.memory.leaks()
    assert handler_name() == "default_allocator"


def run_python(code):
    """Run a program of its own; its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- NumPy -------------------------------------------------------------------------------------
def test_arrays_count_and_carry_their_line():
    before = hr.memory.stats().used_bytes
    with hr.memory.use_for("numpy") as use:
        assert handler_name() == "headrace"
        assert repr(use) == "use_for('numpy'): in use"
        large = np.ones(100_000)
        small = np.arange(10.0)
        assert np._core.multiarray.get_handler_name(large) == "headrace"
        assert hr.memory.stats().used_bytes - before == external() >= large.nbytes
    assert repr(use) == "use_for('numpy'): closed"
    holders = [holder for holder in hr.memory.leaks() if holder.external]
    assert sorted(holder.bytes for holder in holders) == [80, 800_064]
    assert {holder.op for holder in holders} == {"numpy"}
    assert all("test_memory_external.py:" in holder.line for holder in holders)
    assert len({holder.line for holder in holders}) == 2
    assert "numpy" in hr.memory.report()
    assert small.sum() == 45


def test_the_line_is_the_users_where_numpy_itself_is_python():
    with hr.memory.use_for("numpy"):
        x = np.linspace(0, 1, 100_000)
    (holder,) = (h for h in hr.memory.leaks() if h.bytes > 8192 and h.external)
    assert holder.line.startswith("test_memory_external.py:")
    del x


def test_lines_of_code_that_comes_and_goes():
    with hr.memory.use_for("numpy"):
        for i in range(200):
            scope = {"np": np}
            exec(compile("\n" * i + "x = np.empty(2000)", f"made_{i}.py", "exec"), scope)
            (holder,) = (h for h in hr.memory.leaks() if h.bytes > 8192 and h.external)
            assert holder.line == f"made_{i}.py:{i + 1}"
            del scope


def test_log_tells_arrays_and_leak_check_finds_them():
    kept = []
    with hr.memory.use_for("numpy"):
        with hr.memory.log() as log:
            np.empty(20_000)
        assert [(e.action, e.bytes, e.op) for e in log] == [
            ("allocate", 160_064, "numpy"),
            ("free", 160_064, "numpy"),
        ]
        line = r"numpy at test_memory_external\.py"
        with pytest.raises(hr.InternalError, match=line) as caught, hr.memory.leak_check():
            kept.append(np.empty(20_000))
        assert caught.value.held_bytes == 160_064
        with hr.memory.leak_check():
            np.empty(20_000)
        with pytest.raises(hr.InternalError), hr.memory.leak_check():
            kept.append(np.empty(10))


def test_closing_undoes_in_any_order():
    first = hr.memory.use_for("numpy")
    second = hr.memory.use_for("numpy", "numpy")
    first.close()
    assert handler_name() == "default_allocator"
    second.close()
    first.close()
    assert handler_name() == "default_allocator"
    with hr.memory.use_for("numpy"), hr.memory.use_for("numpy"):
        assert handler_name() == "headrace"


def test_arrays_outlive_the_context_and_move_between_handlers():
    with hr.memory.use_for("numpy"):
        ours = np.arange(50_000)
    theirs = np.arange(50_000)
    ours.resize(90_000, refcheck=False)  # by the handler that made it
    assert np._core.multiarray.get_handler_name(ours) == "headrace"
    with hr.memory.use_for("numpy"):
        theirs.resize(90_000, refcheck=False)
        assert np._core.multiarray.get_handler_name(theirs) == "default_allocator"
        del theirs
    assert (ours[:50_000] == np.arange(50_000)).all() and not ours[50_000:].any()
    view = ours[10:20]
    del ours
    assert external() > 0
    assert view.tolist() == list(range(10, 20))


def test_the_limit_raises_memory_error_and_the_next_call_works():
    with hr.memory.limit(hr.memory.stats().used_bytes + 10 * MB):
        fails = pytest.raises(MemoryError, match="Unable to allocate")
        with fails as caught, hr.memory.use_for("numpy"):
            kept = np.ones(500_000)
            np.empty(10 * MB)
        (note,) = caught.value.__notes__
        assert note.startswith("numpy: out of memory: requested=80.0 MB")
        assert "4.0 MB numpy at test_memory_external.py" in note
        with hr.memory.use_for("numpy"):
            with pytest.raises(MemoryError):
                np.zeros(10 * MB)
            with pytest.raises(MemoryError):
                kept.resize(2 * MB, refcheck=False)
            assert kept.sum() == 500_000
            assert np.ones(1000).sum() == 1000
            with pytest.raises(hr.OutOfMemoryError):
                hr.signal.ricker(2 * MB, 3.0).to_numpy()
    with pytest.raises(MemoryError) as caught, hr.memory.use_for("numpy"):
        raise MemoryError("of somebody else")
    assert not hasattr(caught.value, "__notes__")


def test_zeros_are_zero_and_untouched():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    with hr.memory.use_for("numpy"):
        np.ones(8 * MB)  # its pages wait in the pool
        before = resident()
        zeros = np.zeros(100 * MB)
        assert resident() - before < 20 * MB
        assert not zeros[::1000].any() and not np.zeros(1000).any()
        for size in (1, 100, 1000, 10_000, 600_000):
            np.full(size, 7.0)
            assert not np.zeros(size).any()


def test_threads_have_their_own_handler():
    def in_thread(run):
        names = []
        thread = threading.Thread(target=run, args=(lambda: names.append(handler_name()),))
        thread.start()
        thread.join()
        return names[0]

    with hr.memory.use_for("numpy"):
        assert in_thread(lambda f: f()) == "default_allocator"
        assert in_thread(contextvars.copy_context().run) == "headrace"
    with ThreadPoolExecutor(4, initializer=hr.memory.use_for, initargs=("numpy",)) as threads:
        assert set(threads.map(lambda _: handler_name(), range(20))) == {"headrace"}

        def work(seed):
            random = np.random.default_rng(seed)
            total = 0
            for _ in range(100):
                x = random.integers(0, 100, random.integers(1, 40_000))
                y = np.concatenate([x, x])
                total += int(y.sum()) - 2 * int(x.sum())
            return total

        assert set(threads.map(work, range(8))) == {0}
        made = list(threads.map(lambda n: np.full(n, n), [10, 1000, 100_000]))
    assert [int(x.sum()) for x in made] == [100, 10**6, 10**10]


def test_many_entries_and_exits():
    for _ in range(10_000):
        with hr.memory.use_for("numpy"):
            pass
    before = sys.getrefcount(_core.our_numpy_handler())
    for _ in range(100):
        with hr.memory.use_for("numpy"):
            pass
    assert abs(sys.getrefcount(_core.our_numpy_handler()) - before) < 10


def apply(steps):
    """Do random things with arrays; what they hold afterwards."""
    arrays = []
    for kind, size, pick in steps:
        chosen = pick % len(arrays) if arrays else None
        if kind == "zeros":
            arrays.append(np.zeros(size, np.int16))
        elif kind == "full":
            arrays.append(np.full(size, pick % 1000, np.int16))
        elif kind == "empty":
            arrays.append(np.empty(0, np.int16))
        elif chosen is None:
            continue
        elif kind == "free":
            arrays.pop(chosen)
        elif kind == "resize":
            arrays[chosen].resize(size, refcheck=False)
        elif kind == "sort":
            arrays[chosen] = np.sort(arrays[chosen] * 3 % 7)
        elif kind == "text":
            text = np.array(list(map(str, arrays[chosen][:10]))).astype("S")
            arrays[chosen] = text.view(np.int8).astype(np.int16)
        else:
            arrays[chosen] = np.concatenate([arrays[chosen], arrays[chosen]])[:size].copy()
    return [x.tolist() for x in arrays]


KINDS = ("zeros", "full", "empty", "free", "resize", "sort", "text", "join")
SIZES = st.one_of(st.integers(0, 70), st.integers(0, 5000), st.sampled_from([4096, 4097, 2**17]))


@given(st.lists(st.tuples(st.sampled_from(KINDS), SIZES, st.integers(0, 1000)), max_size=25))
def test_random_arrays_equal_those_of_the_default_handler(steps):
    expected = apply(steps)
    with hr.memory.use_for("numpy"):
        assert apply(steps) == expected
    assert external() == 0


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), SIZES, st.integers(0, 1000)), max_size=25),
    st.integers(1, 400_000),
)
@settings(max_examples=50)
def test_random_arrays_under_a_limit(steps, room):
    expected = apply(steps)
    used = hr.memory.stats().used_bytes
    with hr.memory.limit(used + room), hr.memory.stats() as counted:
        try:
            with hr.memory.use_for("numpy"):
                assert apply(steps) == expected
        except MemoryError as error:
            error.__traceback__ = None  # it holds the arrays
        assert counted.peak_bytes <= used + room
    hr.memory.trim()
    assert external() == 0, hr.memory.leaks()


def test_interpreter_ends_with_live_arrays():
    code = """
        import atexit, threading, time
        import numpy as np
        import headrace as hr
        use = hr.memory.use_for("numpy")
        keep = [np.ones(n) for n in (1, 100, 10_000, 1_000_000)]
        atexit.register(lambda: keep.append(np.ones(100_000)))
        hr.kept = keep  # freed when modules go
        class Late:
            def __init__(self):
                self.x = np.ones(5000)
            def __del__(self):
                self.x = None
        late = Late()
        late.me = late
        def work():
            hr.memory.use_for("numpy")
            while True:
                np.ones(3000).sum()
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.05)
        print("end")
    """
    for _ in range(3):
        assert run_python(code) == "end\n"


def test_a_forked_child_goes_on():
    code = """
        import os, threading, warnings
        warnings.simplefilter("ignore")
        import numpy as np
        import headrace as hr
        hr.memory.use_for("numpy")
        keep = [np.ones(n) for n in (10, 1000, 100_000)]
        stop = False
        def work():
            hr.memory.use_for("numpy")
            while not stop:
                np.ones(100).sum(), np.ones(5000).sum()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                assert [x.sum() for x in keep] == [10, 1000, 100_000]
                keep.clear()
                np.ones(100_000), np.ones(10)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop = True
        for thread in threads: thread.join()
        print("end")
    """
    assert run_python(code) == "end\n"


# ---- names -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "hint"),
    [("nunpy", "did you mean 'numpy'"), ("pytorch", "did you mean 'torch'"), ("x", "one of numpy")],
)
def test_an_unknown_library_is_an_error(name, hint):
    with pytest.raises(hr.InvalidArgumentError, match=hint):
        hr.memory.use_for("numpy", name)
    assert handler_name() == "default_allocator"


@pytest.mark.parametrize("name", ["torch", "cupy", "numba"])
def test_without_a_gpu_the_error_says_so(name, monkeypatch):
    monkeypatch.setattr(_core, "cuda_device_count", lambda: 0)
    with pytest.raises(hr.UnsupportedError, match=f"there is no CUDA device: library={name}"):
        hr.memory.use_for("numpy", name)
    assert handler_name() == "default_allocator"


# ---- the C interface and a made-up driver ------------------------------------------------------
class Driver:
    """CUDA's driver with the signatures of the real one: device memory is made of numbers."""

    def __init__(self, room=MB, devices=2):
        self.room, self.live, self.stack, self.next, self.calls = room, {}, [], 1 << 40, []
        c, p = ctypes, ctypes.POINTER
        self.functions = [
            c.CFUNCTYPE(c.c_int, p(c.c_int))(lambda out: self.put(out, devices)),
            c.CFUNCTYPE(c.c_int, p(c.c_uint64), c.c_size_t, c.c_void_p)(self.allocate),
            c.CFUNCTYPE(c.c_int, c.c_uint64, c.c_void_p)(self.free),
            c.CFUNCTYPE(c.c_int, p(c.c_size_t), p(c.c_size_t))(self.memory),
            c.CFUNCTYPE(c.c_int, p(c.c_int))(self.current),
            c.CFUNCTYPE(c.c_int, p(c.c_void_p), c.c_int)(lambda out, d: self.put(out, 100 + d)),
            c.CFUNCTYPE(c.c_int, c.c_void_p)(lambda context: self.stack.append(context - 100) or 0),
            c.CFUNCTYPE(c.c_int, p(c.c_void_p))(lambda out: self.put(out, 100 + self.stack.pop())),
        ]
        self.addresses = [c.cast(f, c.c_void_p).value for f in self.functions]

    def put(self, out, value):
        out[0] = value
        return 0

    def used(self):
        return sum(size for size, _, _ in self.live.values())

    def allocate(self, out, size, stream):
        if not self.stack:
            return 201  # CUDA_ERROR_INVALID_CONTEXT
        if self.used() + size > self.room:
            return 2  # CUDA_ERROR_OUT_OF_MEMORY
        self.next += 1 << 20
        self.live[self.next] = (size, self.stack[-1], stream)
        return self.put(out, self.next)

    def free(self, address, stream):
        size, device, made_on = self.live.pop(address)
        assert self.stack[-1] == device
        self.calls.append((size, made_on, stream))
        return 0

    def memory(self, free, total):
        self.put(free, self.room - self.used())
        return self.put(total, self.room)

    def current(self, out):
        return self.put(out, self.stack[-1]) if self.stack else 201


@pytest.fixture
def driver():
    made = Driver()
    _core.set_cuda_driver(made.addresses)
    yield made
    _core.set_cuda_driver([])
    assert made.live == {} and made.stack == []


class Functions(ctypes.Structure):
    """The layout of `struct hr_alloc_v1`, written out as a C program would see it."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        (
            "alloc",
            ctypes.CFUNCTYPE(
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.c_size_t,
                ctypes.c_int32,
                ctypes.c_void_p,
            ),
        ),
        (
            "free",
            ctypes.CFUNCTYPE(
                None,
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.c_int32,
                ctypes.c_void_p,
            ),
        ),
        (
            "realloc",
            ctypes.CFUNCTYPE(
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.c_int32,
                ctypes.c_void_p,
            ),
        ),
        (
            "usable_size",
            ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32),
        ),
        (
            "query",
            ctypes.CFUNCTYPE(
                ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64 * 3)
            ),
        ),
    ]


def functions():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Functions.from_address(get(hr.memory.alloc_v1(), b"headrace.alloc_v1"))


def test_c_functions_on_the_host():
    f = functions()
    assert (f.version, f.size) == (1, ctypes.sizeof(Functions))
    for size in (0, 1, 100, 8192, 8193, MB):
        for alignment in (1, 16, 64):
            p = f.alloc(f.context, size, alignment, -1, None)
            assert p % alignment == 0
            assert f.usable_size(f.context, p, -1) >= size
            ctypes.memset(p, 7, size)
            p = f.realloc(f.context, p, 2 * size + 1, -1, None)
            assert ctypes.string_at(p, size) == b"\7" * size
            counts = (ctypes.c_int64 * 3)()
            assert f.query(f.context, -1, counts) == 0 and counts[0] == external() > 0
            f.free(f.context, p, 0, -1, None)
    assert f.alloc(f.context, 100, 4096, -1, None) is None
    assert f.usable_size(f.context, None, -1) == 0
    f.free(f.context, None, 0, -1, None)


def test_c_functions_on_a_device(driver):
    f = functions()
    counts = (ctypes.c_int64 * 3)()
    p = f.alloc(f.context, 1000, 256, 1, 77)
    assert driver.live == {p: (1000, 1, 77)}
    assert f.usable_size(f.context, p, 1) == 1000
    assert f.query(f.context, 1, counts) == 0 and counts[0] == 1000
    assert f.query(f.context, 9, counts) == 1
    (holder,) = (h for h in hr.memory.leaks() if h.place == "cuda:1")
    assert (holder.bytes, holder.external) == (1000, True)
    assert f.alloc(f.context, 2 * MB, 256, 1, None) is None
    assert "out of memory on the device" in _core.last_refusal()
    assert "the card is full" in _core.last_refusal()
    assert f.realloc(f.context, p, 2000, 1, None) is None
    f.free(f.context, p, 1000, 1, None)
    assert driver.calls == [(1000, 77, 77)]
    f.free(f.context, p, 1000, 1, None)  # nobody's any more
    assert hr.memory.stats().external_bytes == 0  # the host's


def test_torch_entry_points(driver, monkeypatch):
    scopes = []

    class Scope:
        def __init__(self, pool):
            self.pool = pool

        def __enter__(self):
            scopes.append(self.pool)

        def __exit__(self, *args):
            scopes.remove(self.pool)

    class Allocator:
        """Looks the functions up in the library, as PyTorch does."""

        def __init__(self, path, alloc, free):
            library = ctypes.CDLL(path)
            self.alloc, self.free = library[alloc], library[free]
            self.alloc.restype = ctypes.c_void_p
            self.alloc.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
            self.free.restype = None
            self.free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]

        def allocator(self):
            return self

    memory = types.SimpleNamespace(CUDAPluggableAllocator=Allocator)
    cuda = types.SimpleNamespace(memory=memory, MemPool=lambda a: a, use_mem_pool=Scope)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    with hr.memory.use_for("torch"):
        (allocator,) = scopes
        with hr.memory.log() as log:
            p = allocator.alloc(5000, 0, 11)
            assert driver.live == {p: (5000, 0, 11)}
    assert scopes == []
    assert [(e.bytes, e.op, e.tier) for e in log] == [(5000, "torch", "cuda:0")]
    allocator.free(p, 5000, 0, 11)


def test_cupy_allocator(driver, monkeypatch):
    class Memory:
        def __init__(self, owner, size):
            self.owner, self.ptr = owner, owner.malloc_function(owner.param, size, 1)

        def __del__(self):
            self.owner.free_function(self.owner.param, self.ptr, 1)

    class CFunctionAllocator:
        def __init__(self, param, malloc, free, owner):
            self.param, self.owner = param, owner
            pointer, size, device = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
            self.malloc_function = ctypes.CFUNCTYPE(pointer, pointer, size, device)(malloc)
            self.free_function = ctypes.CFUNCTYPE(None, pointer, pointer, device)(free)

        def malloc(self, size):
            return Memory(self, size)

    present = ["their own"]
    cuda = types.SimpleNamespace(
        CFunctionAllocator=CFunctionAllocator,
        get_current_stream=lambda: types.SimpleNamespace(ptr=33),
        get_allocator=lambda: present[0],
        set_allocator=lambda f: present.__setitem__(0, f),
    )
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    with hr.memory.use_for("cupy"):
        made = present[0](3000)
        assert list(driver.live.values()) == [(3000, 1, 33)]
        with pytest.raises(hr.OutOfMemoryError, match="cupy: out of memory on the device"):
            present[0](2 * MB)
    assert present == ["their own"]
    del made
    assert driver.calls == [(3000, 33, 33)]


@pytest.mark.pool
def test_numba_memory_manager(driver):
    numba_driver = pytest.importorskip("numba.cuda.cudadrv.driver")
    from headrace.numba import MemoryManager, _numba_memory_manager

    assert _numba_memory_manager is MemoryManager
    before = numba_driver._memory_manager
    with hr.memory.use_for("numba"):
        assert numba_driver._memory_manager is MemoryManager
    assert numba_driver._memory_manager is before

    class Context:
        device = types.SimpleNamespace(id=1)

    context = Context()
    manager = MemoryManager(context=context)
    manager.initialize()
    assert manager.interface_version == 1
    pointer = manager.memalloc(4096)
    assert (pointer.size, *driver.live.values()) == (4096, (4096, 1, None))
    assert tuple(manager.get_memory_info()) == (MB - 4096, MB)
    with pytest.raises(hr.OutOfMemoryError, match="numba"):
        manager.memalloc(2 * MB)
    with pytest.raises(hr.UnsupportedError):
        manager.get_ipc_handle(pointer)
    del pointer
    gc.collect()
    assert hr.memory.trim() >= 4096  # kept for the next one until then
    assert driver.live == {}
