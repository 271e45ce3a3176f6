# SPDX-License-Identifier: Apache-2.0
"""What an import of the package loads, and that whatever is asked for first works."""

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import headrace as hr

PACKAGE = Path(hr.__file__)
#: All that the memory part needs.
OF_MEMORY = {"_core", "_first_use", "_loader", "_arguments", "errors", "settings", "display"}
OF_MEMORY |= {"display.progress", "io", "io.atomic_write"}
LOADED = "import sys; print(*(m for m in sys.modules if m.startswith('headrace')))"


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def loaded(code: str) -> set[str]:
    names = run(f"{code}\n{LOADED}").split()
    return {name.removeprefix("headrace.") for name in names}


def test_the_import_loads_two_modules():
    assert loaded("import headrace") == {"headrace", "_first_use"}
    assert loaded("import headrace as hr; dir(hr); hasattr(hr, '__wrapped__')") == {
        "headrace",
        "_first_use",
    }


def test_memory_loads_no_frame_code():
    names = loaded("import headrace.memory; headrace.memory.stats()") - {"headrace"}
    assert {name for name in names if name.partition(".")[0] != "memory"} <= OF_MEMORY
    more = {"headrace", "facade", "interop", "interop.ways_round"}
    assert loaded("import headrace as hr; hr.memory.limit('1GB'); hr.threads(1)") <= names | more


def test_a_frame_loads_neither_numpy_nor_models():
    code = "import headrace as hr; hr.DataFrame({'x': [1, 2]}).x.sum().item()"
    names = loaded(f"{code}; import sys; assert 'numpy' not in sys.modules")
    rooms = {name.partition(".")[0] for name in names}
    assert "frame" in rooms
    assert not rooms & {"learn", "graph", "sql", "plot", "demo", "report", "stream", "lint"}


def test_types_and_names_agree():
    """Type checkers read the imports, the package its tables."""
    tree = ast.parse(PACKAGE.read_text())
    (types,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in types.body if isinstance(node, ast.ImportFrom)]
    seen = {
        each.name: node.module.removeprefix("headrace").lstrip(".")
        for node in imports
        for each in node.names
        if node.module != "headrace._core"
    }
    rooms = {name: f"{home}.{name}".lstrip(".") for name, home in seen.items()}
    assert hr._rooms == {name: rooms[name] for name in hr._rooms}
    shown = {name: home for name, home in seen.items() if name not in hr._rooms}
    assert hr._homes == shown | {"load_ipython_extension": "display.magics"}
    assert {*hr.__all__, "tensor", "__narwhals_namespace__"} == {*seen, "__version__"}


@pytest.mark.parametrize("room", sorted(set(hr._rooms) - {"torch", "dask"}))
def test_each_room_can_be_the_first(room):
    home = f"headrace.{hr._rooms[room]}"
    code = f"import {home} as room; assert dir(room)\nimport headrace as hr"
    assert run(f"{code}; print(hr.{room} is room, hr.Series([1, 2]).sum())") == "True 3"


@pytest.mark.parametrize(
    "code",
    [
        "from headrace.array.construct import asarray; print(asarray([1, 2]).sum())",
        "from headrace.signal import ricker; print(len(ricker(3, 1.0)))",
        "from headrace.io.csv import read_csv; print(len(read_csv(b'a\\n1\\n2\\n3\\n')))",
        "from headrace.frame.columns import new_frame; print(len(new_frame({'x': [1, 2, 3]})))",
        "from headrace.series.column import is_series; print(3 - is_series(3))",
        "from headrace.series.categorical import *; import headrace; print(headrace.Index([3])[0])",
        "import headrace as hr; print(hr.eval() or 3)",
        "from headrace import *; print(Series([1, 2]).sum())",
    ],
)
def test_any_name_can_be_the_first(code):
    assert run(code) == "3"


def test_pickles_are_read_by_a_fresh_process(tmp_path):
    frame = hr.DataFrame({"x": [1, 2], "t": hr.to_datetime(["2020-01-01", "2020-01-02"])})
    values = [frame, frame.x, hr.asarray([1.0, 2.0]), frame.set_index("t"), hr.read_csv, hr.merge]
    values += [hr.Timestamp("2020-01-01"), hr.errors.InputError("a: b"), hr.offsets.Day(2)]
    for value in values:
        path = tmp_path / "pickle"
        path.write_bytes(pickle.dumps(value))
        code = f"import pickle; value = pickle.load(open({str(path)!r}, 'rb')); print(repr(value))"
        assert run(code).split() == repr(value).split() or callable(value)


def test_functions_are_not_assigned_to_before_they_are_loaded():
    code = "import headrace as hr\n{}"
    assert "threads is a function" in run(code.format("hr.threads = 4"))
    assert "limit is a function" in run(code.format("hr.memory.limit = 4"))
    assert run(code.format("hr.note = 4; print(hr.note)")) == "4"


def test_settings_of_the_environment_hold_for_whatever_is_first():
    code = "import headrace.signal as s\nimport headrace as hr\nprint(hr.device())"
    assert run(code, HEADRACE_DEVICE="sim") == "sim"
    code = """
import headrace as hr
for _ in range(2):
    try:
        hr.Series([1])
    except ValueError as error:
        print(error.args[0][:15])
"""
    assert run(code, HEADRACE_DEVICE="none").split("\n") == ["device: unknown"] * 2
    assert run(code, HEADRACE_ENGINE="none").split("\n") == ["engine: unknown"] * 2


def test_entry_points_import_nothing_of_ours():
    code = """
import sys, networkx, dask.dataframe, narwhals
networkx.pagerank(networkx.path_graph(3))
narwhals.from_native(object(), pass_through=True)
print([name for name in sys.modules if name.partition(".")[0] == "headrace"])
import headrace as hr
narwhals.from_native(object(), pass_through=True)
print([name for name in sys.modules if name.startswith("headrace.")])
print(type(narwhals.from_native(hr.DataFrame({"x": [1]}))).__module__)
"""
    lines = run(code).splitlines()
    assert lines == ["[]", "['headrace._first_use']", "narwhals.dataframe"]


def test_errors_name_the_nearest_way_before_anything_is_loaded():
    assert "read_csv" in run("import headrace as hr\nhr.read_cvs")
    assert "DataFrame" in run("import headrace as hr\nhr.Dataframe")
    assert "did you mean" in run("import headrace as hr\nhr.merge(hr.DataFrame(), validat=3)")
