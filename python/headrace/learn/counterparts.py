# SPDX-License-Identifier: Apache-2.0
"""Models of scikit-learn made of ours, and ours of theirs.

Parameters and public attributes are the same by contract. What is private in one of both, and does
not follow from these, a class says in a function of `_THEIRS` or `_OURS`.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import UnsupportedError
from headrace.lazy.handle import is_array
from headrace.learn.files import class_named
from headrace.random import seed_from
from headrace.series.column import is_series, series_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MODULES = {
    "cluster": "DBSCAN HDBSCAN KMeans MiniBatchKMeans",
    "compose": "ColumnTransformer",
    "decomposition": "IncrementalPCA NMF PCA TruncatedSVD",
    "ensemble": "ExtraTreesClassifier ExtraTreesRegressor IsolationForest RandomForestClassifier "
    "RandomForestRegressor",
    "feature_extraction.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    "impute": "SimpleImputer",
    "linear_model": "ElasticNet ElasticNetCV Lasso LassoCV LinearRegression LogisticRegression "
    "Ridge RidgeCV",
    "manifold": "TSNE",
    "model_selection": "GridSearchCV GroupKFold HalvingGridSearchCV KFold RandomizedSearchCV "
    "StratifiedKFold TimeSeriesSplit",
    "naive_bayes": "GaussianNB MultinomialNB",
    "neighbors": "KNeighborsClassifier KNeighborsRegressor NearestNeighbors",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": "KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler "
    "Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures QuantileTransformer RobustScaler "
    "StandardScaler TargetEncoder",
    "svm": "LinearSVC LinearSVR SVC SVR",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def _their_class(name: str) -> Any:
    if name.startswith("Halving"):
        importlib.import_module("sklearn.experimental.enable_halving_search_cv")
    home = _HOMES.get(name)
    return home and getattr(importlib.import_module(f"sklearn.{home}"), name, None)


def _our_class(name: str) -> Any:
    return class_named(name) if name in _HOMES else None


def _public(names: Iterable[str]) -> Iterator[str]:
    """Names of fitted attributes."""
    return (name for name in dict.fromkeys(names) if name.endswith("_") and name[0] != "_")


def _copy_settings(source: Any, made: Any) -> None:
    """What `set_output` and `set_fit_request` chose."""
    for name in ("_sklearn_output_config", "_metadata_request"):
        if name in vars(source):
            setattr(made, name, copy.deepcopy(vars(source)[name]))


def _copy_attributes(
    names: Iterator[str], source: Any, made: Any, convert: Callable[[str, Any], Any]
) -> None:
    for name in names:
        try:
            setattr(made, name, convert(name, getattr(source, name)))
        except AttributeError:  # not fitted, or a property there
            continue


# ---- ours to theirs ------------------------------------------------------------------------------
def _theirs(value: Any) -> Any:
    if is_array(value):
        return np.array(value.to_numpy())
    if is_series(value):
        return value.to_list()
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_theirs, value))
    if isinstance(value, dict):
        return {key: _theirs(each) for key, each in value.items()}
    ours = type(value).__module__.startswith("headrace.learn.") and hasattr(value, "__dict__")
    return to_sklearn(value) if ours and not inspect.isroutine(value) else value


def to_sklearn(model: Any) -> Any:
    """Implement `Estimator.to_sklearn`."""
    name = type(model).__name__
    cls = _their_class(name)
    if cls is None or type(model) is not _our_class(name):
        raise UnsupportedError(
            f"to_sklearn: scikit-learn has no such class: class={name!r}; keep the model"
        )
    if not hasattr(model, "get_params"):  # splitters
        return cls(**{key: each for key, each in vars(model).items() if not key.startswith("_")})
    given = model.get_params(deep=False)
    params = {param: _theirs(value) for param, value in given.items()}
    for param, value in params.items():
        if type(value).__module__.startswith("headrace."):
            raise UnsupportedError(
                f"to_sklearn: scikit-learn has no such value: {name}.{param}={value!r}; set "
                "another with set_params()"
            )
    made = cls(**params)
    _copy_settings(model, made)
    if made.__dict__.get("_sklearn_output_config", {}).get("transform") == "headrace":
        raise UnsupportedError(
            f"to_sklearn: scikit-learn has no such output: {name}.set_output(transform='headrace')"
            "; choose another first"
        )
    if model.__sklearn_is_fitted__():
        names = _public([*vars(model), *dir(type(model))])
        _copy_attributes(names, model, made, lambda _, value: _theirs(value))
        _THEIRS.get(name, lambda ours, theirs: None)(model, made)
    return made


def _their_linkage(ours: Any, theirs: Any) -> None:
    names = ("left_node", "right_node", "value", "cluster_size")
    kinds = [(name, np.float64 if name == "value" else np.intp) for name in names]
    tree = np.empty(len(ours._linkage[0]), kinds)
    for name, column in zip(names, ours._linkage, strict=True):
        tree[name] = column
    theirs._single_linkage_tree_ = tree


def _their_kmeans(ours: Any, theirs: Any) -> None:
    theirs._n_threads, theirs._n_features_out = 1, len(ours.cluster_centers_)


def _their_levels(ours: Any, theirs: Any) -> None:
    theirs._infrequent_enabled = ours._groups_rare()
    if theirs._infrequent_enabled:
        theirs._default_to_infrequent_mappings = _theirs(ours._groups)
        theirs._infrequent_indices = [
            None if group is None else np.flatnonzero(group == group.max())
            for group in ours._groups
        ]
    missing = {p: len(c) - 1 for p, c in enumerate(ours.categories_) if c[-1:] != c[-1:]}
    theirs._missing_indices = missing
    if hasattr(ours, "_dropped"):
        dropped = np.array(ours._dropped, object)
        theirs._drop_idx_after_grouping = None if ours.drop is None else dropped
        theirs._n_features_outs = list(ours._sizes)


def _their_bins(ours: Any, theirs: Any) -> None:
    if ours._encoder is not None:
        theirs._encoder = to_sklearn(ours._encoder)


def _their_imputer(ours: Any, theirs: Any) -> None:
    theirs._fit_dtype = theirs._fill_dtype = ours.statistics_.dtype
    theirs.indicator_ = None


def _their_columns(ours: Any, theirs: Any) -> None:
    from sklearn.preprocessing import FunctionTransformer

    same = {"accept_sparse": True, "check_inverse": False, "feature_names_out": "one-to-one"}
    theirs.transformers_ = [
        (name, FunctionTransformer(**same).fit(np.zeros((1, 1))), columns)
        if isinstance(each, str) and each == "passthrough"
        else (name, _theirs(each), columns)
        for name, each, columns in ours.transformers_
    ]
    theirs._columns = [columns for _, _, columns in ours.transformers]
    theirs._transformer_to_input_indices = _theirs(ours._chosen)
    left = ours._chosen["remainder"]
    theirs._remainder = ("remainder", theirs.remainder, left)
    theirs.sparse_output_ = False
    theirs.output_indices_.setdefault("remainder", slice(0, 0))


def _their_vectorizer(ours: Any, theirs: Any) -> None:
    theirs.vocabulary_, theirs.fixed_vocabulary_ = dict(ours.vocabulary_), ours.fixed_vocabulary_
    theirs._stop_words_id = id(theirs.stop_words)
    if hasattr(ours, "_weights"):
        theirs._tfidf = to_sklearn(ours._weights)


def _their_neighbors(ours: Any, theirs: Any) -> None:
    y = getattr(ours, "_y", None)
    classes = getattr(ours, "classes_", None)
    theirs.fit(np.asarray(ours._fit_X), y if classes is None else classes[y])
    _copy_names(ours, theirs)


def _copy_names(source: Any, made: Any) -> None:
    """Names of columns, which a fit of rows without names forgets."""
    if hasattr(source, "feature_names_in_"):
        made.feature_names_in_ = source.feature_names_in_.copy()


def _their_search(ours: Any, theirs: Any) -> None:
    from sklearn.metrics import check_scoring

    best = getattr(theirs, "best_estimator_", theirs.estimator)
    if getattr(theirs, "scorer_", None) is None:
        theirs.scorer_ = check_scoring(best, theirs.scoring)


def _their_tree(tree: Any, cls: Any, classes: int, features: int, params: dict[str, Any]) -> Any:
    """A decision tree with the nodes of one of ours."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    weight, impurity, depth = _measures(tree, bool(classes), params.get("criterion"))
    nodes = np.zeros(tree.node_count, NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.children_left, tree.children_right
    nodes["feature"], nodes["threshold"] = tree.feature, tree.threshold
    nodes["impurity"], nodes["weighted_n_node_samples"] = impurity, weight
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["missing_go_to_left"] = tree.missing_go_to_left
    made = Tree(features, np.array([max(classes, 1)], np.intp), 1)
    values = np.ascontiguousarray(tree.value.reshape(tree.node_count, 1, -1), np.float64)
    state = {"max_depth": depth, "node_count": tree.node_count}
    made.__setstate__({**state, "nodes": nodes, "values": values})
    one = cls(**params)
    one.tree_, one.n_features_in_, one.n_outputs_ = made, features, 1
    one.max_features_ = features
    if classes:
        one.n_classes_, one.classes_ = classes, np.arange(float(classes))
    return one


def _measures(tree: Any, classes: bool, criterion: str | None) -> tuple[Any, Any, int]:
    """What nodes weigh, their impurities and the depth, by the values of nodes.

    A node's value is the mean of its children's by their weights. The unknown variance within the
    leaves of numbers counts as none: it cancels out of what splits gain.
    """
    left, right, value = tree.children_left, tree.children_right, tree.value
    share = tree.n_node_samples[left] / np.maximum(tree.n_node_samples, 1)
    apart = value[left] - value[right]
    square = (apart**2).sum(axis=1)
    known = square > 0
    along = ((value - value[right]) * apart).sum(axis=1)
    share[known] = np.clip(along[known] / square[known], 0.0, 1.0)
    weight = tree.n_node_samples.astype(np.float64)
    levels = [np.zeros(1, np.int64)]
    while len(inner := levels[-1][left[levels[-1]] >= 0]):
        weight[left[inner]] = weight[inner] * share[inner]
        weight[right[inner]] = weight[inner] * (1.0 - share[inner])
        levels.append(np.concatenate([left[inner], right[inner]]))
    if classes and criterion == "gini":
        impurity = 1.0 - (value**2).sum(axis=1)
    elif classes:
        impurity = -(value * np.log2(np.where(value > 0, value, 1.0))).sum(axis=1)
    else:
        impurity = np.zeros(len(weight))
        for level in reversed(levels):
            node = level[left[level] >= 0]
            part = share[node]
            inside = part * impurity[left[node]] + (1.0 - part) * impurity[right[node]]
            impurity[node] = inside + part * (1.0 - part) * square[node]
    return weight, impurity, len(levels) - 1


def _their_trees(ours: Any, theirs: Any) -> None:
    cls = type(theirs.estimator)
    shared = {name: getattr(theirs, name) for name in theirs.estimator_params}
    classes = getattr(ours, "n_classes_", 0)
    theirs.estimators_ = [
        _their_tree(tree, cls, classes, ours.n_features_in_, shared) for tree in ours.estimators_
    ]
    theirs.estimator_ = cls(**shared)


def _their_isolation(ours: Any, theirs: Any) -> None:
    from sklearn.ensemble._iforest import _average_path_length
    from sklearn.tree import ExtraTreeRegressor

    features = ours.n_features_in_
    theirs.estimators_ = [
        _their_tree(tree, ExtraTreeRegressor, 0, features, {}) for tree in ours.estimators_
    ]
    theirs.estimator_ = ExtraTreeRegressor()
    theirs.estimators_features_ = [np.arange(features)] * len(theirs.estimators_)
    theirs._max_samples, theirs._max_features = ours.max_samples_, features
    trees = [each.tree_ for each in theirs.estimators_]
    theirs._average_path_length_per_tree = tuple(
        _average_path_length(tree.n_node_samples) for tree in trees
    )
    theirs._decision_path_lengths = tuple(tree.compute_node_depths() for tree in trees)


def _their_polynomials(ours: Any, theirs: Any) -> None:
    theirs.fit(np.zeros((1, ours.n_features_in_)))
    _copy_names(ours, theirs)


def _their_machine(ours: Any, theirs: Any) -> None:
    classes = getattr(ours, "classes_", None)
    side = 1.0 if classes is None or len(classes) > 2 else -1.0  # libsvm's first class is positive
    theirs._sparse, theirs._gamma = False, ours._gamma
    theirs._dual_coef_, theirs._intercept_ = side * ours.dual_coef_, side * ours.intercept_
    theirs._n_support = ours.n_support_.copy()
    theirs._num_iter = np.atleast_1d(ours.n_iter_)
    none = np.empty(0)
    theirs._probA, theirs._probB = (
        np.array(getattr(ours, name, none)) for name in ("probA_", "probB_")
    )
    theirs._effective_probability = len(theirs._probA) > 0
    if classes is None:
        theirs._n_support, theirs.class_weight_ = np.append(theirs._n_support, np.int32(0)), none
    if callable(ours.kernel):
        theirs._BaseLibSVM__Xfit = ours._fit_X.copy()


_THEIRS: dict[str, Callable[[Any, Any], None]] = {
    "ColumnTransformer": _their_columns,
    "CountVectorizer": _their_vectorizer,
    "IsolationForest": _their_isolation,
    "KBinsDiscretizer": _their_bins,
    "HDBSCAN": _their_linkage,
    "KMeans": _their_kmeans,
    "LabelBinarizer": lambda ours, theirs: setattr(theirs, "sparse_input_", False),
    "MiniBatchKMeans": _their_kmeans,
    "OneHotEncoder": _their_levels,
    "OrdinalEncoder": _their_levels,
    "PolynomialFeatures": _their_polynomials,
    "SimpleImputer": _their_imputer,
    "TargetEncoder": _their_levels,
    "TfidfVectorizer": _their_vectorizer,
} | {
    name: function
    for names, function in (
        ("ExtraTreesClassifier ExtraTreesRegressor", _their_trees),
        ("RandomForestClassifier RandomForestRegressor", _their_trees),
        ("KNeighborsClassifier KNeighborsRegressor NearestNeighbors", _their_neighbors),
        ("GridSearchCV HalvingGridSearchCV RandomizedSearchCV", _their_search),
        ("SVC SVR", _their_machine),
    )
    for name in names.split()
}


# ---- theirs to ours ------------------------------------------------------------------------------
def _ours(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_ours, value))
    if isinstance(value, dict):
        return {key: _ours(each) for key, each in value.items()}
    known = _is_theirs(value) and _our_class(type(value).__name__) is not None
    return from_sklearn(value) if known else value


def _is_theirs(value: Any) -> bool:
    name = type(value).__name__
    return type(value).__module__.startswith("sklearn.") and type(value) is _their_class(name)


def from_sklearn(model: Any) -> Any:
    """The model of `hr.learn` that says what a model of scikit-learn says; nothing is fitted.

    `Estimator.to_sklearn` is the way back. Trees of scikit-learn compare float32 values, ours the
    values as they are.

    Parameters
    ----------
    model : sklearn estimator
        Of a class that `hr.learn` has too, fitted or not, with those inside of it; other
        estimators inside stay as they are.

    Raises
    ------
    UnsupportedError
        For a class or a parameter that `hr.learn` does not have.

    >>> from sklearn.preprocessing import StandardScaler
    >>> hr.learn.from_sklearn(StandardScaler().fit([[1.0], [3.0]])).transform([[5.0]]).tolist()
    [[3.0]]
    """
    name = type(model).__name__
    cls = _our_class(name) if _is_theirs(model) else None
    if cls is None:
        raise UnsupportedError(
            f"from_sklearn: hr.learn has no such class: class={type(model).__qualname__!r}; use "
            "the model in a hr.learn.Pipeline as it is"
        )
    if not hasattr(model, "get_params"):  # splitters
        return cls(**{key: each for key, each in vars(model).items() if key in _arguments(cls)})
    given = model.get_params(deep=False)
    unknown = sorted(set(given) - set(cls._get_param_names()))
    if unknown:
        raise UnsupportedError(
            f"from_sklearn: {name} has no such parameters in hr.learn: {unknown}; fit a model of "
            "hr.learn"
        )
    made = cls(**{param: _ours(value) for param, value in given.items()})
    _copy_settings(model, made)
    arrays = _array_attributes(cls)

    def converted(attribute: str, value: Any) -> Any:
        lazy = attribute in arrays and isinstance(value, np.ndarray)
        return asarray(value.copy()) if lazy else _ours(value)

    _copy_attributes(_public(vars(model)), model, made, converted)
    if any(_public(vars(model))) or name in ("FeatureUnion", "Pipeline"):  # they hold the fitted
        _OURS.get(name, lambda ours, theirs: None)(made, model)
    return made


def _arguments(cls: Any) -> set[str]:
    return set(inspect.signature(cls.__init__).parameters)


def _array_attributes(cls: Any) -> set[str]:
    """Attributes that a class declares as arrays of Headrace."""
    declared = [vars(each).get("__annotations__", {}) for each in cls.__mro__]
    return {name for each in declared for name, kind in each.items() if kind == "Array"}


def _our_components(ours: Any, theirs: Any) -> None:
    share = float(theirs.explained_variance_ratio_[0]) or 1.0
    ours._total_variance = float(theirs.explained_variance_[0]) / share
    if hasattr(theirs, "n_samples_seen_"):
        ours.n_samples_ = ours.n_samples_seen_ = int(theirs.n_samples_seen_)
        stretched = theirs.singular_values_[:, None] * theirs.components_
        ours._exact = (theirs.mean_.copy(), theirs.var_.copy()), stretched


def _our_levels(ours: Any, theirs: Any) -> None:
    count = len(ours.categories_)
    ours._groups = [None] * count
    if getattr(theirs, "_infrequent_enabled", False):
        ours._groups = _ours(list(theirs._default_to_infrequent_mappings))
    if hasattr(theirs, "_n_features_outs"):
        dropped = theirs._drop_idx_after_grouping
        ours._dropped = [None] * count if dropped is None else list(dropped)
        ours._sizes = list(theirs._n_features_outs)


def _our_bins(ours: Any, theirs: Any) -> None:
    ours._encoder = from_sklearn(theirs._encoder) if hasattr(theirs, "_encoder") else None


def _our_imputer(ours: Any, theirs: Any) -> None:
    ours._refuse_params(add_indicator=False)
    ours._of_texts = theirs._fit_dtype.kind == "O"


def _our_columns(ours: Any, theirs: Any) -> None:
    chosen = theirs._transformer_to_input_indices
    ours._chosen = {name: list(places) for name, places in chosen.items()}
    ours._chosen.setdefault("remainder", [])
    same = "FunctionTransformer"
    ours.transformers_ = [
        (name, "passthrough" if type(each).__name__ == same and not each.func else each, columns)
        for name, each, columns in ours.transformers_
    ]


def _our_vectorizer(ours: Any, theirs: Any) -> None:
    terms = sorted(theirs.vocabulary_, key=theirs.vocabulary_.__getitem__)
    ours._terms = series_over(np.array(terms, object)).astype("string")
    if hasattr(theirs, "_tfidf"):
        ours._weights = from_sklearn(theirs._tfidf)


def _our_neighbors(ours: Any, theirs: Any) -> None:
    y = getattr(theirs, "_y", None)
    classes = getattr(theirs, "classes_", None)
    if not isinstance(theirs._fit_X, np.ndarray):
        _refuse_fit(theirs, "its rows are sparse")
    if isinstance(classes, list):
        _refuse_fit(theirs, f"it has several outputs: classes_={classes}")
    rows = theirs._fit_X.copy()
    ours.fit(rows, *([] if y is None else [y if classes is None else classes[y]]))
    _copy_names(theirs, ours)


def _refuse_fit(theirs: Any, what: str) -> None:
    raise UnsupportedError(
        f"from_sklearn: {type(theirs).__name__}: {what}; fit a model of hr.learn"
    )


def _our_trees(ours: Any, theirs: Any) -> None:
    """The arrays of a forest: nodes in our order, the left child behind its node."""
    isolation = hasattr(theirs, "_average_path_length_per_tree")
    if getattr(theirs, "n_outputs_", 1) != 1:
        _refuse_fit(theirs, f"it has several outputs: n_outputs_={theirs.n_outputs_}")
    every = np.arange(ours.n_features_in_)
    columns = theirs.estimators_features_ if isolation else [every] * len(theirs.estimators_)
    parts, total = [], [0]
    for each, drawn in zip(theirs.estimators_, columns, strict=True):
        tree = each.tree_
        order, at = _left_first(tree)
        right, leaf = tree.children_right[order], tree.children_left[order] < 0
        nan_left = np.asarray(tree.missing_go_to_left, np.int64)[order]
        feature = drawn[np.where(leaf, 0, tree.feature[order])]
        link = at[np.where(leaf, 0, right)] << 32 | feature << 1 | nan_left
        value = tree.value[:, 0, :]
        if isolation:
            paths = [_core.isolation_path(float(count)) for count in tree.n_node_samples]
            value = (tree.compute_node_depths() - 1.0 + paths)[:, None]
        parts.append(
            (
                np.where(leaf, -1, link),
                np.where(leaf, 0.0, tree.threshold[order]),
                value[order],
                tree.n_node_samples[order].astype(np.int64),
            )
        )
        total.append(total[-1] + len(order))
    importances = np.zeros(ours.n_features_in_)
    if not isolation:
        importances = np.asarray(theirs.feature_importances_)
        ours.feature_importances_ = asarray(importances)
        ours._classes = getattr(theirs, "n_classes_", 0)
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    ours._forest = [asarray(each) for each in (np.array(total), *joined, importances)]
    ours._check_loaded()
    for name in ("estimator_", "estimators_features_"):
        ours.__dict__.pop(name, None)


def _left_first(tree: Any) -> tuple[Any, Any]:
    """The nodes of a tree, each before its left child's, then its right child's; their places."""
    order, open_ = [], [0]
    while open_:
        node = open_.pop()
        order.append(node)
        if tree.children_left[node] >= 0:
            open_ += [tree.children_right[node], tree.children_left[node]]
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return np.array(order), places


def _our_linkage(ours: Any, theirs: Any) -> None:
    if (theirs.labels_ < -1).any():
        raise UnsupportedError(
            "from_sklearn: HDBSCAN was fitted on rows with NaN or infinity: fit a model of hr.learn"
        )
    tree = theirs._single_linkage_tree_
    ours._linkage = [np.ascontiguousarray(tree[name]) for name in tree.dtype.names]
    ours._outside = None


def _our_batches(ours: Any, theirs: Any) -> None:
    ours._centers, ours._counts = asarray(theirs.cluster_centers_.copy()), theirs._counts.copy()
    ours._since_reassignment = int(theirs._n_since_last_reassign)
    ours._seed = seed_from(ours.random_state)


def _our_normal(ours: Any, theirs: Any) -> None:
    ours._squares = (theirs.var_ - theirs.epsilon_) * theirs.class_count_[:, None]


def _our_machine(ours: Any, theirs: Any) -> None:
    if theirs._sparse:
        _refuse_fit(theirs, "its support vectors are sparse")
    ours._gamma, ours.n_support_ = theirs._gamma, theirs.n_support_.copy()
    if hasattr(ours, "classes_"):
        ours.probA_, ours.probB_ = theirs._probA.copy(), theirs._probB.copy()
    if callable(theirs.kernel):
        ours._fit_X = theirs._BaseLibSVM__Xfit.copy()


def _our_search(ours: Any, theirs: Any) -> None:
    ours.scorer_ = ours.scoring


def _our_factors(ours: Any, theirs: Any) -> None:
    ours._refuse_params(solver="cd")
    if ours.beta_loss != 2:
        ours._refuse_params(beta_loss="frobenius")


def _our_binarizer(ours: Any, theirs: Any) -> None:
    if theirs.y_type_ == "multilabel-indicator":
        _refuse_fit(theirs, f"several labels a row: y_type_={theirs.y_type_!r}")


def _our_union(ours: Any, theirs: Any) -> None:
    from sklearn.exceptions import NotFittedError

    with contextlib.suppress(NotFittedError):
        ours._fitted = theirs.__sklearn_is_fitted__()


_OURS: dict[str, Callable[[Any, Any], None]] = {
    "ColumnTransformer": _our_columns,
    "CountVectorizer": _our_vectorizer,
    "FeatureUnion": _our_union,
    "GaussianNB": _our_normal,
    "HDBSCAN": _our_linkage,
    "MiniBatchKMeans": _our_batches,
    "KBinsDiscretizer": _our_bins,
    "LabelBinarizer": _our_binarizer,
    "NMF": _our_factors,
    "OneHotEncoder": _our_levels,
    "OrdinalEncoder": _our_levels,
    "Pipeline": lambda ours, theirs: ours._refuse_params(transform_input=None),
    "SimpleImputer": _our_imputer,
    "TargetEncoder": _our_levels,
    "TfidfVectorizer": _our_vectorizer,
} | {
    name: function
    for names, function in (
        ("ExtraTreesClassifier ExtraTreesRegressor IsolationForest", _our_trees),
        ("RandomForestClassifier RandomForestRegressor", _our_trees),
        ("IncrementalPCA PCA", _our_components),
        ("KNeighborsClassifier KNeighborsRegressor NearestNeighbors", _our_neighbors),
        ("GridSearchCV HalvingGridSearchCV RandomizedSearchCV", _our_search),
        ("SVC SVR", _our_machine),
    )
    for name in names.split()
}
