# SPDX-License-Identifier: Apache-2.0
"""The conda recipe and the add-on for CUDA name the versions that the wheel has."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "tools/release/conda/recipe.yaml"

pytestmark = pytest.mark.skipif(not RECIPE.exists(), reason="needs the source tree")


def joined(requirements):
    return {each.replace(" ", "") for each in requirements if isinstance(each, str)}


def test_the_conda_recipe_is_that_of_the_wheel():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(RECIPE.read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    version = re.search(
        r"project\(headrace VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert recipe["context"]["version"] == version[1]
    assert joined(project["build-system"]["requires"]) <= joined(recipe["requirements"]["host"])
    run = joined(recipe["requirements"]["run"])
    assert run == {*project["project"]["dependencies"], "python>=3.11"}
    assert project["project"]["requires-python"] == ">=3.11"
    place = (RECIPE.parent / recipe["source"]["path"]).resolve()
    assert place == ROOT and (place / recipe["about"]["license_file"]).exists()


def test_the_add_on_for_cuda_is_built_by_the_same_tools():
    project, add_on = (
        tomllib.loads((ROOT / path / "pyproject.toml").read_text()) for path in (".", "python/cu13")
    )
    assert add_on["build-system"] == project["build-system"]
    assert add_on["project"]["requires-python"] == project["project"]["requires-python"]
    assert (
        add_on["tool"]["scikit-build"]["metadata"]["version"]["regex"]
        == (project["tool"]["scikit-build"]["metadata"]["version"]["regex"])
    )
