# SPDX-License-Identifier: Apache-2.0
"""What the attributes of fitted models are: one table, by which models of files are checked."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.lazy.handle import is_array
from headrace.series.column import is_series

if TYPE_CHECKING:
    from collections.abc import Callable

_LINEAR = "coef_:f[o?,d] intercept_:f[o?]"
_OF_CLASSES = "classes_:x[c] "
_FOREST = "_forest:*any[6] feature_importances_:F[d]"
_SCALED = "n_samples_seen_:n[.?] scale_:f[d]"
_LEVELS = "categories_:*x[d,.] _groups:*i?[d,.] "
_COMPONENTS = "components_:F[k,d] explained_variance_:F[k]"
_MACHINE = "support_vectors_:f[.,.] support_:i[s] _gamma:f[] "
_NEIGHBORS = "_fit_X:v[n,d] n_samples_fit_:i[]=n effective_metric_:s"
_SEARCH = "best_estimator_?:m scorer_?:any multimetric_:b"

#: Attributes that methods read: ``name:kind[shape]``. Kinds: f (floats), i (integers), n (both), x
#: (labels), b (a bool), s (a string), text (a series), F (floats in an array of Headrace), v and w
#: (floats, integers in either), a class,
#: m (any model), any; behind ``*`` a list of these, one for each of the first axis. A ``?`` says
#: that the attribute may be absent, that it may be None, or that an axis may be absent. Axes of one
#: letter are equal in a model: d columns of the fit, c classes, b decisions between them (1 of two
#: classes), p pairs of them; ``.`` is any. ``<c``: from 0 to below c; ``=k``: this number. What
#: cannot be said so is in `_check_loaded` of the class.
_TABLE: dict[str, str] = {
    **dict.fromkeys(
        ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV"),
        _LINEAR,
    ),
    "LinearSVR": _LINEAR,
    "LogisticRegression": _OF_CLASSES + "coef_:f[b,d] intercept_:f[b?]",
    "LinearSVC": _OF_CLASSES + "coef_:f[b,d] intercept_:f[b?]",
    "GaussianNB": _OF_CLASSES + "theta_:f[c,d] var_:f[c,d] _squares:f[c,d] class_prior_:f[c] "
    "class_count_:f[c] epsilon_:f[]",
    "MultinomialNB": _OF_CLASSES + "feature_log_prob_:f[c,d] feature_count_:f[c,d] "
    "class_log_prior_:f[c] class_count_:f[c]",
    "KMeans": "cluster_centers_:v[k,d] labels_:w[.] inertia_:f[]",
    "MiniBatchKMeans": "cluster_centers_:v[k,d]",
    "DBSCAN": "labels_:w[.] core_sample_indices_:w[s] components_?:any",
    "HDBSCAN": "labels_:w[n] probabilities_:v[n] _linkage:*n[4,.]",
    "TSNE": "embedding_:any",
    "UMAP": "embedding_:v[n,k] _fit_X?:v[n,d] _count:i[] _seed:i[] _curve:*f[2] _edges:*n[3,.]",
    "PCA": "mean_:F[d] " + _COMPONENTS,
    "IncrementalPCA": "mean_:F[d] var_:F[d] n_samples_seen_:i[] " + _COMPONENTS,
    "TruncatedSVD": _COMPONENTS + " singular_values_:F[k]",
    "NMF": "components_:F[k,d] n_components_:i[]=k",
    "StandardScaler": "mean_:f?[d] var_:f?[d] scale_:f?[d] n_samples_seen_:n[.?]",
    "RobustScaler": "center_:f?[d] scale_:f?[d]",
    "MinMaxScaler": "min_:f[d] data_min_:f[d] data_max_:f[d] data_range_:f[d] " + _SCALED,
    "MaxAbsScaler": "max_abs_:f[d] " + _SCALED,
    "QuantileTransformer": "references_:f[q] quantiles_:f[q,d] n_quantiles_:i[]=q",
    "KBinsDiscretizer": "bin_edges_:*f[d,.] n_bins_:i[d] _encoder:OneHotEncoder?",
    "SimpleImputer": "statistics_:x[d] _of_texts:b indicator_?:any",
    "PolynomialFeatures": "n_output_features_:i[]",
    "LabelEncoder": "classes_:x[c]",
    "LabelBinarizer": "classes_:x[c] y_type_:s",
    "OrdinalEncoder": _LEVELS,
    "OneHotEncoder": _LEVELS + "_dropped:*i?[d] _sizes:*i[d]",
    "CategoryEncoder": "categories_:*any[d] counts_:*any[d]",
    "TargetEncoder": _LEVELS + "target_type_:s target_mean_:f[.?] encodings_:*f[.,.]",
    "TfidfTransformer": "idf_?:F[d]",
    "CountVectorizer": "_terms:text _columns?:any",
    "TfidfVectorizer": "_terms:text _columns?:any _weights:TfidfTransformer",
    "NearestNeighbors": _NEIGHBORS,
    "KNeighborsClassifier": _OF_CLASSES + "_y:i[n]<c " + _NEIGHBORS,
    "KNeighborsRegressor": "_y:f[n,o?] " + _NEIGHBORS,
    "SVC": _OF_CLASSES + _MACHINE + "dual_coef_:f[r,s] intercept_:f[p] n_support_:i[c] "
    "probA_:f[.] probB_:f[.]",
    "SVR": _MACHINE + "dual_coef_:f[1,s] intercept_:f[1] n_support_:i[1]",
    "RandomForestClassifier": _OF_CLASSES + _FOREST,
    "ExtraTreesClassifier": _OF_CLASSES + _FOREST,
    "RandomForestRegressor": _FOREST,
    "ExtraTreesRegressor": _FOREST,
    "IsolationForest": "_forest:*any[6] offset_:f[] max_samples_:i[]",
    "GridSearchCV": _SEARCH,
    "RandomizedSearchCV": _SEARCH,
    "HalvingGridSearchCV": _SEARCH,
}
#: Those of which no attribute says how many columns they have.
_OF_COLUMNS = {
    *("PolynomialFeatures", "ColumnTransformer", "DriftDetector"),
    *("SVC", "SVR", "IsolationForest", "HashEncoder", "GroupStatistics", "Lag"),
}
#: Parameters that may be arrays, lists, dictionaries or models.
_FREE = {
    *("alpha", "alphas", "l1_ratio", "init", "n_bins", "categories", "drop", "class_weight"),
    *("vocabulary", "stop_words", "refit", "class_prior", "priors", "cv", "param_grid", "dtype"),
    *("param_distributions", "precomputed_knn", "scoring", "metric_params", "monotonic_cst"),
    *("transformer_weights", "metric_kwds", "output_metric_kwds"),
    *("target_metric_kwds", "tqdm_kwds", "columns", "stats", "lags"),
}
_ENTRY = re.compile(r"(\w+)(\??):(\*?)(\w+)(\??)(?:\[([^]]*)\])?(?:([<=])(\w))?")
_DTYPES = {"f": "f", "F": "f", "v": "f", "i": "iu", "w": "iu", "n": "fiu", "x": "fiubOU"}


_OTHERS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "b": lambda value: isinstance(value, bool | np.bool_),
    "s": lambda value: isinstance(value, str),
    "m": lambda value: hasattr(value, "get_params"),
    "text": lambda value: is_series(value) and str(value.dtype) == "string",
}


class _Sizes(dict[str, int]):
    """The axes that are known of a model."""

    def fit(self, axes: str, shape: tuple[int, ...]) -> bool:
        """Whether axes have this shape; new ones are remembered."""
        names = axes.split(",") if axes else []
        if names and names[-1].endswith("?") and len(shape) < len(names):
            return self.fit(",".join(names[:-1]), shape)
        if names and names[0].endswith("?") and len(shape) < len(names):
            self.setdefault(names[0][0], 1)
            return self.fit(",".join(names[1:]), shape)
        return len(names) == len(shape) and all(
            name[0] == "." or self.known(name[0], size) == size
            for name, size in zip(names, shape, strict=True)
        )

    def known(self, name: str, size: int) -> int:
        if name.isdigit():
            return int(name)
        if name not in self:
            self[name] = size
            if name == "c":
                between, pairs = size if size > 2 else size - 1, size * (size - 1) // 2
                self.update(b=between, r=size - 1, p=pairs)
        return self[name]


def _is(value: Any, kind: str, axes: str, sign: str, bound: str, sizes: _Sizes) -> bool:
    if kind not in _DTYPES:
        return _OTHERS[kind](value) if kind in _OTHERS else type(value).__name__ == kind
    if isinstance(value, int | float | np.generic) and not isinstance(value, bool):
        value = np.asarray(value)
    ours, either = kind == "F", kind in "vw"
    if not ((isinstance(value, np.ndarray) and not ours) or (is_array(value) and (ours or either))):
        return False
    if np.dtype(str(value.dtype)).kind not in _DTYPES[kind] or not sizes.fit(axes, value.shape):
        return False
    if bound and value.size:
        least, most = int(value.min()), int(value.max())
        size = sizes.get(bound, -1)
        return least >= 0 and most < size if sign == "<" else least == most == size
    return kind != "x" or value.dtype != object or all(map(_is_label, value.ravel().tolist()))


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | np.generic)


def _check_params(model: Any) -> None:
    """Raise for parameters that no fit takes: not of the kind of their default."""
    for name, parameter in inspect.signature(type(model).__init__).parameters.items():
        default, value = parameter.default, vars(model).get(name)
        if default is inspect.Parameter.empty:
            continue
        number = isinstance(default, int | float) and default == default  # noqa: PLR0124
        if isinstance(default, bool) and name not in _FREE:
            fine = isinstance(value, bool | int | np.bool_ | np.integer)
        elif isinstance(default, tuple) and name not in _FREE:
            fine = isinstance(value, list | tuple) and len(value) == len(default)
            fine = fine and all(isinstance(each, int | float | np.number) for each in value)
        elif number and isinstance(value, str):
            fine = name == "max_features"
        else:
            fine = value is None or isinstance(value, str | int | float | type | np.generic)
            fine = fine and not (isinstance(value, int) and abs(value) >= 2**63)
            fine = fine or name in _FREE
        if name in ("tokenizer", "preprocessor"):  # functions, which no file holds
            fine = value is None
        if name == "dtype" and value is not None:
            np.dtype(value)
        if not fine:
            raise ValueError(f"{type(model).__name__} takes no such {name}")


def check_loaded(model: Any) -> None:
    """Raise ValueError where a fitted model of a file is not what its methods read."""
    if not model.__sklearn_is_fitted__():
        return
    _check_params(model)
    held, name = vars(model), type(model).__name__
    sizes = _Sizes()
    features = held.get("n_features_in_")
    if features is not None or name in _OF_COLUMNS or "d]" in _TABLE.get(name, ""):
        if not isinstance(features, int | np.integer) or features < 1:
            raise ValueError(f"{name}.n_features_in_ does not count columns")
        sizes["d"] = int(features)
    table = f"feature_names_in_?:x[d] {_TABLE.get(name, '')}"
    for attribute, maybe, several, kind, none, axes, sign, bound in _ENTRY.findall(table):
        if attribute not in held:
            if maybe:
                continue
            raise ValueError(f"{name} lacks {attribute}")
        parts, shape, fine = [held[attribute]], axes, True
        if several:
            first, _, shape = axes.partition(",")
            fine = isinstance(parts[0], list | tuple | np.ndarray)
            parts = list(parts[0]) if fine else []
            fine = fine and sizes.fit(first, (len(parts),))
        for part in parts:
            fine = fine and bool(
                (none and part is None) or _is(part, kind, shape, sign, bound, sizes)
            )
        if not fine:
            raise ValueError(f"{name}.{attribute} is not what it must be")
    if hasattr(model, "_check_loaded"):
        model._check_loaded()
