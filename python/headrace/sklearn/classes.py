# SPDX-License-Identifier: Apache-2.0
"""Subclasses of scikit-learn's classes: its own code, with our loops inside."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from headrace.sklearn import loops
from headrace.sklearn.loops import Loop, told

_NEIGHBORS = {"kneighbors": {"ArgKmin": loops.arg_k_min}}
_ASSIGNING = {"_labels_inertia_threadpool_limit": loops.kmeans_labels}
_LEVELS = {
    "_fit": {"_unique": loops.unique_values},
    "_transform": {"_check_unknown": loops.unknown_values, "_encode": loops.encoded},
}
_VECTORS = {
    "_dense_fit": {"libsvm": loops.libsvm_module},
    "_dense_predict": {"libsvm": loops.libsvm_module},
    "_dense_decision_function": {"libsvm": loops.libsvm_module},
}
_TEXTS = {"_count_vocab": loops.count_vocabulary}

#: For each class its methods with our loops: in the place of the names that they call, or of all
#: of the method. Nothing else of a class changes.
TABLE: dict[str, dict[str, Any]] = {
    "cluster._kmeans.KMeans": {
        "fit": {
            "_kmeans_single_lloyd": loops.kmeans_single,
            "_kmeans_single_elkan": loops.kmeans_single,
        },
        "predict": _ASSIGNING,
        "score": _ASSIGNING,
    },
    "cluster._kmeans.MiniBatchKMeans": {
        "fit": _ASSIGNING,
        "partial_fit": _ASSIGNING,
        "predict": _ASSIGNING,
        "score": _ASSIGNING,
    },
    "cluster._dbscan.DBSCAN": {"fit": loops.dbscan_fit},
    "decomposition._pca.PCA": {"_fit_full": loops.pca_fit_full},
    "neighbors._unsupervised.NearestNeighbors": _NEIGHBORS,
    "neighbors._regression.KNeighborsRegressor": _NEIGHBORS,
    "neighbors._classification.KNeighborsClassifier": {
        **_NEIGHBORS,
        "predict": {"ArgKminClassMode": loops.arg_k_min_classes},
        "predict_proba": {"ArgKminClassMode": loops.arg_k_min_classes},
    },
    "neighbors._lof.LocalOutlierFactor": _NEIGHBORS,
    "neighbors._graph.KNeighborsTransformer": _NEIGHBORS,
    "linear_model._base.LinearRegression": {
        "fit": {
            "linalg": loops.lstsq_module,
            "lsqr": told("LinearRegression.fit", "sparse rows"),
        }
    },
    "linear_model._ridge.Ridge": {
        "_BaseRidge.fit": {"_ridge_regression": {"_solve_cholesky": loops.ridge_cholesky}}
    },
    "linear_model._logistic.LogisticRegression": {
        "fit": {"_logistic_regression_path": {"LinearModelLoss": loops.linear_model_loss}}
    },
    "svm._classes.SVC": _VECTORS,
    "svm._classes.SVR": _VECTORS,
    "preprocessing._data.StandardScaler": {
        "partial_fit": {"_incremental_mean_and_var": loops.mean_and_variance}
    },
    "preprocessing._data.MinMaxScaler": {"partial_fit": {"_array_api": loops.array_api_module}},
    "preprocessing._encoders.OneHotEncoder": _LEVELS,
    "preprocessing._encoders.OrdinalEncoder": _LEVELS,
    "feature_extraction.text.CountVectorizer": _TEXTS,
    "feature_extraction.text.TfidfVectorizer": _TEXTS,
    "feature_extraction.text.HashingVectorizer": {"transform": loops.hash_documents},
}


def with_loops(function: Loop, named: Any) -> Loop:
    """A function, wrapped as it was, whose global names are loops; or another in its wrappers."""
    inner = getattr(function, "__wrapped__", None)
    if inner is not None:
        made = with_loops(inner, named)
        cells = tuple(
            types.CellType(made) if cell.cell_contents is inner else cell
            for cell in function.__closure__ or ()
        )
        return _copied(function, function.__globals__, cells, made)
    if not isinstance(named, dict):
        return named(function)
    names = dict(function.__globals__)
    for name, replaced in named.items():
        theirs = names[name]
        is_deeper = isinstance(replaced, dict)
        names[name] = with_loops(theirs, replaced) if is_deeper else replaced(theirs)
    return _copied(function, names, function.__closure__, None)


def _copied(function: Loop, names: dict[str, Any], cells: Any, wrapped: Any) -> Loop:
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__doc__, made.__qualname__ = function.__doc__, function.__qualname__
    made.__module__, made.__annotations__ = function.__module__, function.__annotations__
    if wrapped is not None:
        made.__wrapped__ = wrapped  # type: ignore[attr-defined]
    return made


def _reduce(model: Any, protocol: int) -> Any:
    """As an object of the class that scikit-learn has by this name where it is loaded."""
    cls = type(model)
    if "__reduce_ex__" not in vars(cls):  # a class that a program made of ours
        return object.__reduce_ex__(model, protocol)
    known = getattr(sys.modules[cls.__module__], cls.__name__)
    return object.__new__, (known,), model.__getstate__()


def subclass(path: str) -> type[Any]:
    """The class of a row of the table."""
    module, name = path.rsplit(".", 1)
    theirs = getattr(importlib.import_module(f"sklearn.{module}"), name)
    bases, methods = [theirs], {}
    for method, named in TABLE[path].items():
        owner, _, method = method.rpartition(".")  # noqa: PLW2901
        if owner:  # what `super()` calls there
            base = next(cls for cls in theirs.__mro__ if cls.__name__ == owner)
            made = with_loops(getattr(base, method), named)
            bases.append(type(owner, (base,), {method: made, "__module__": base.__module__}))
        else:
            methods[method] = with_loops(getattr(theirs, method), named)
    words = {"__module__": theirs.__module__, "__doc__": theirs.__doc__}
    words["__qualname__"] = theirs.__qualname__
    made = type(theirs)(name, tuple(bases), words)
    # Set now: scikit-learn wraps what a class is made with, and these are wrapped.
    for method, function in methods.items():
        setattr(made, method, function)
    made.__reduce_ex__ = _reduce
    return made
