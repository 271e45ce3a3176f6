# SPDX-License-Identifier: Apache-2.0
"""The checks of layout and types find each kind of fault, and leave clean code alone."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def tool(name: str) -> ModuleType:
    path = Path(__file__).resolve().parents[2] / f"tools/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_layout = tool("check_layout")
check_types = tool("check_types")

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.mark.parametrize(
    ("path", "code", "problem"),
    [
        ("headrace/exec/a.cpp", '#include "headrace/data/column.h"\n', "may not include room"),
        ("headrace/plot/a.cpp", '#include "headrace/learn/pca.h"\n', "may not include room"),
        ("headrace/plot/a.cpp", '#include "column.h"\n', "not there"),
        ("headrace/nowhere/a.cpp", "", "unknown room"),
        ("headrace/plot/plot_utils.cpp", "", "name that says nothing"),
        ("headrace/plot/a.cpp", "int x;\n" * 900, "lines"),
        ("headrace/plot/a.cpp", "#include <iostream>\n", "printing"),
        ("headrace/plot/a.cpp", "void f() { std::exit(1); }\n", "printing or exit"),
        ("headrace/plot/a.cpp", "std::jthread t;\n", "thread"),
        ("headrace/plot/a.cpp", "auto p = std::malloc(3);\n", "allocation"),
        ("headrace/plot/a.cpp", "auto p = new float[3];\n", "allocation"),
        ("headrace/plot/a.cpp", "#include <Python.h>\n", "Python header"),
        ("headrace/plot/a.cpp", "#include <cuda_runtime.h>\n", "CUDA header"),
        ("headrace/plot/a.cpp", "// TO" + "DO: later\n", "unfinished"),
    ],
)
def test_a_fault_is_found(path: str, code: str, problem: str) -> None:
    """Each rule names its fault."""
    assert any(problem in found for found in check_layout.check_file(path, SPDX + code))


def test_the_licence_line_comes_first() -> None:
    """A file without the SPDX line is a fault."""
    assert check_layout.check_file("headrace/plot/a.cpp", "int x;\n")


def test_clean_code_passes() -> None:
    """Words in comments and strings, and members of the same names, are no fault."""
    code = (
        '#include "headrace/data/column.h"\n'
        '// malloc(3) and std::thread\nconst char* a = "exit(1) // printf(";\n'
        "void f(Pool& pool) { pool.malloc(3); std::thread::hardware_concurrency(); }\n"
    )
    assert check_layout.check_file("headrace/plot/a.cpp", SPDX + code) == []


def test_differences_between_stub_and_engine_are_found() -> None:
    """What is special about the binding's functions and classes hides no name that is missing."""
    special = [
        "headrace._core.filter is not a function",
        "headrace.array.array.Array is inconsistent, metaclass differs",
    ]
    missing = [
        "headrace._core.filter is not present in stub",
        "headrace._core.filter is not present at runtime",
        "headrace._core.Node.shape is not present in stub",
    ]
    assert check_types.differences("\n".join([*special, *missing])) == missing
