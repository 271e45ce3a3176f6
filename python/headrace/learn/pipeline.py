# SPDX-License-Identifier: Apache-2.0
"""Estimators in sequence, and the base of those that hold others by name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.learn.base import (
    Estimator,
    NotFittedError,
    also_sklearns,
    clone,
    kind_of,
)
from headrace.learn.few_rows import few_rows
from headrace.learn.selection.shared_steps import SharedSteps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SKIPPED = ("passthrough", None)


def _is_fitted(estimator: Any) -> bool:
    if isinstance(estimator, Estimator):
        return estimator.__sklearn_is_fitted__()
    return any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))


class _OfLast:
    """A method that a pipeline has where its last step does."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, pipeline: Any, owner: type | None = None) -> Any:
        if pipeline is None:
            return self._function
        last = pipeline._final
        through = last in _SKIPPED if isinstance(last, str | None) else False
        if not (through and "transform" in self._name) and not hasattr(last, self._name):
            raise AttributeError(
                f"This 'Pipeline' has no attribute {self._name!r}: its last step is {last!r}"
            )
        return self._function.__get__(pipeline, owner)


class NamedEstimators(Estimator):
    """The base of estimators that hold others by name, in the list that `_list` names."""

    _list: ClassVar[str]

    def _named(self) -> list[tuple[str, Any]]:
        try:
            return [(each[0], each[1]) for each in getattr(self, self._list)]
        except (TypeError, IndexError):  # `fit` says what is wrong
            return []

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep`, the estimators and theirs too."""
        made = super().get_params(deep=False)
        for name, estimator in self._named() if deep else ():
            made[name] = estimator
            if hasattr(estimator, "get_params"):
                made |= {f"{name}__{key}": each for key, each in estimator.get_params().items()}
        return made

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, estimators by theirs, and ``name__parameter`` of these."""
        if self._list in params:
            setattr(self, self._list, params.pop(self._list))
        return super().set_params(**params)

    def _set_param(self, name: str, value: Any) -> None:
        if name in self._get_param_names():
            setattr(self, name, value)
            return
        setattr(
            self,
            self._list,
            [
                (each[0], value, *each[2:]) if each[0] == name else each
                for each in getattr(self, self._list)
            ],
        )

    def _check_names(self) -> None:
        names = [name for name, _ in self._named()]
        if len(set(names)) != len(names):
            raise InvalidArgumentError(f"Names provided are not unique: {names!r}")
        own = sorted({*names} & {*self._get_param_names()})
        if own:
            raise InvalidArgumentError(
                f"Estimator names conflict with constructor arguments: {own!r}"
            )
        wrong = [name for name in names if "__" in name]
        if wrong:
            raise InvalidArgumentError(f"Estimator names must not contain __: got {wrong!r}")


class Pipeline(NamedEstimators):
    """Transformers after each other, and an estimator at the end.

    Lazy results of one step are the data of the next: a scaler and a model read the data once.
    Steps may be estimators of scikit-learn.

    Parameters
    ----------
    steps : list of (name, estimator)
        A step ``"passthrough"`` changes nothing.
    transform_input, memory : None
        Not supported.
    verbose : False
        Not supported.

    >>> scale = hr.learn.StandardScaler()
    >>> pipeline = hr.learn.Pipeline([("scale", scale), ("pca", hr.learn.PCA(1))])
    >>> pipeline.fit_transform([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]).round(3).tolist()
    [[-1.732], [0.0], [1.732]]
    """

    steps: list[tuple[str, Any]]
    _known: tuple[Any, Any]  # rows and what the steps make of them, while a search scores

    _list = "steps"

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        transform_input: None = None,
        memory: None = None,
        verbose: bool = False,
    ) -> None:
        self.steps = steps
        self.transform_input = transform_input
        self.memory = memory
        self.verbose = verbose

    @property
    def _final(self) -> Any:
        return self.steps[-1][1]

    @property
    def named_steps(self) -> dict[str, Any]:
        """The steps by name."""
        return dict(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return type(self)(self.steps[key])
        return self.named_steps[key] if isinstance(key, str) else self.steps[key][1]

    def __sklearn_is_fitted__(self) -> bool:
        fitted = [each for _, each in self.steps if not isinstance(each, str | None)]
        return all(_is_fitted(each) for each in fitted[-1:])

    def _all_tags(self) -> Mapping[str, Any]:
        tags: dict[str, Any] = {"estimator_type": kind_of(self._final)}
        if hasattr(self, "transform"):
            tags["transformer_tags"] = {"preserves_dtype": []}
        given = [
            each._all_tags().get("input_tags", {}) if isinstance(each, Estimator) else {}
            for each in (step for _, step in self._named())
        ]
        if given:
            kept = ("pairwise", "string", "categorical", "two_d_array")
            tags["input_tags"] = {name: given[0][name] for name in kept if name in given[0]}
            tags["input_tags"]["allow_nan"] = all(each.get("allow_nan") for each in given)
        last = self._final
        if isinstance(last, Estimator) and "target_tags" in last._all_tags():
            tags["target_tags"] = last._all_tags()["target_tags"]
        return tags

    def _check_loaded(self) -> None:
        self._check_steps()

    def _check_steps(self) -> None:
        self._refuse_params(transform_input=None, memory=None, verbose=False)
        if not self.steps:
            raise InvalidArgumentError("The pipeline is empty. Please add steps.")
        self._check_names()
        for name, step in self.steps[:-1]:
            if step in _SKIPPED if isinstance(step, str | None) else hasattr(step, "transform"):
                continue
            raise TypeMismatchError(
                "All intermediate steps should be transformers and implement fit and transform or "
                f"be the string 'passthrough': step={name!r}, {step!r}"
            )
        last = self._final
        if not hasattr(last, "fit") and last not in _SKIPPED:
            raise TypeMismatchError(
                f"Last step of Pipeline should implement fit or be 'passthrough': {last!r}"
            )

    def _params_of_steps(self, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        parts: dict[str, dict[str, Any]] = {name: {} for name, _ in self.steps}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if not rest or name not in parts:
                raise InvalidArgumentError(
                    f"Pipeline.fit does not accept the {key} parameter. You can pass parameters to "
                    "specific steps of your pipeline using the stepname__parameter format"
                )
            parts[name][rest] = value
        return parts

    def _fit_before(self, X: Any, y: Any, params: dict[str, dict[str, Any]]) -> Any:
        """Fit all steps but the last; their result."""
        self.steps = list(self.steps)
        for place, (name, step) in enumerate(self.steps[:-1]):
            if isinstance(step, str | None):
                continue
            fitted = clone(step)
            if hasattr(fitted, "fit_transform"):
                X = fitted.fit_transform(X, y, **params[name])  # noqa: N806
            else:
                X = fitted.fit(X, y, **params[name]).transform(X)  # noqa: N806
            self.steps[place] = (name, fitted)
        return X

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit each step to the result of those before it; ``step__parameter=`` goes to a step."""
        self._check_steps()
        parts = self._params_of_steps(params)
        made = self._fit_before(X, y, parts)
        if not isinstance(self._final, str | None):
            self._final.fit(made, y, **parts[self.steps[-1][0]])
        return self

    def _before(self, X: Any) -> Any:
        if not self.__sklearn_is_fitted__():
            raise also_sklearns(NotFittedError)("Pipeline: not fitted yet; call fit() first")
        known = vars(self).get("_known")
        return known[1] if known is not None and X is known[0] else self._through(X)

    def _through(self, X: Any) -> Any:
        """The result of the steps before the last one."""
        for _, step in self.steps[:-1]:
            if not isinstance(step, str | None):
                X = step.transform(X)  # noqa: N806
        return X

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return SharedSteps(self)

    @_OfLast
    def transform(self, X: Any) -> Any:
        """The result of all steps."""
        made = self._before(X)
        return made if isinstance(self._final, str | None) else self._final.transform(made)

    @_OfLast
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps and transform the same rows."""
        self._check_steps()
        parts = self._params_of_steps(params)
        made, last = self._fit_before(X, y, parts), self._final
        if isinstance(last, str | None):
            return made
        if hasattr(last, "fit_transform"):
            return last.fit_transform(made, y, **parts[self.steps[-1][0]])
        return last.fit(made, y, **parts[self.steps[-1][0]]).transform(made)

    @_OfLast
    def inverse_transform(self, X: Any) -> Any:
        """Undo all steps, from the last to the first."""
        for _, step in reversed(self.steps):
            if not isinstance(step, str | None):
                X = step.inverse_transform(X)  # noqa: N806
        return X

    @_OfLast
    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps and predict the same rows."""
        self._check_steps()
        parts = self._params_of_steps(params)
        made = self._fit_before(X, y, parts)
        return self._final.fit_predict(made, y, **parts[self.steps[-1][0]])

    @_OfLast
    @few_rows
    def predict(self, X: Any, **params: Any) -> Any:
        """Predictions of the last step."""
        return self._final.predict(self._before(X), **params)

    @_OfLast
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Probabilities of the last step."""
        return self._final.predict_proba(self._before(X), **params)

    @_OfLast
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Logarithms of the probabilities of the last step."""
        return self._final.predict_log_proba(self._before(X), **params)

    @_OfLast
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Decision values of the last step."""
        return self._final.decision_function(self._before(X), **params)

    @_OfLast
    def score_samples(self, X: Any) -> Any:
        """Scores of rows by the last step."""
        return self._final.score_samples(self._before(X))

    @_OfLast
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """The score of the last step."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._final.score(self._before(X), y, **weights)

    @property
    def classes_(self) -> Any:
        """The classes of the last step."""
        return self._final.classes_

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Columns of the first step."""
        return self.steps[0][1].n_features_in_

    @property
    def feature_names_in_(self) -> Any:  # type: ignore[override]
        """Names of the columns of the first step."""
        return self.steps[0][1].feature_names_in_

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that the last step makes."""
        names = input_features
        for _, step in self.steps:
            if not isinstance(step, str | None):
                names = step.get_feature_names_out(names)
        return names

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what all steps return; see `StandardScaler.set_output`."""
        for _, step in self.steps:
            if hasattr(step, "set_output"):
                step.set_output(transform=transform)
        return self


def named(estimators: Any) -> list[tuple[str, Any]]:
    """Estimators by the names of their classes in lower case, numbered where these repeat."""
    names = [each if isinstance(each, str) else type(each).__name__.lower() for each in estimators]
    total, seen = Counter(names), Counter[str]()
    made = []
    for name, each in zip(names, estimators, strict=True):
        seen[name] += 1
        made.append((f"{name}-{seen[name]}" if total[name] > 1 else name, each))
    return made


def make_pipeline(
    *steps: Any, memory: None = None, transform_input: None = None, verbose: bool = False
) -> Pipeline:
    """A `Pipeline` of estimators, named by their classes.

    >>> hr.learn.make_pipeline(hr.learn.StandardScaler(), hr.learn.PCA(2)).steps[1]
    ('pca', PCA(n_components=2))
    """
    return Pipeline(named(steps), transform_input=transform_input, memory=memory, verbose=verbose)
