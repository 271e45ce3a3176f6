# SPDX-License-Identifier: Apache-2.0
"""Models with scikit-learn's interface, without importing scikit-learn."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from headrace.learn import metrics as metrics
    from headrace.learn.base import ConvergenceWarning as ConvergenceWarning
    from headrace.learn.base import NotFittedError as NotFittedError
    from headrace.learn.boost import xgboost_matrix as xgboost_matrix
    from headrace.learn.cluster.dbscan import DBSCAN as DBSCAN
    from headrace.learn.cluster.hdbscan import HDBSCAN as HDBSCAN
    from headrace.learn.cluster.kmeans import KMeans as KMeans
    from headrace.learn.cluster.minibatch import MiniBatchKMeans as MiniBatchKMeans
    from headrace.learn.column_transformer import ColumnTransformer as ColumnTransformer
    from headrace.learn.column_transformer import FeatureUnion as FeatureUnion
    from headrace.learn.column_transformer import make_column_transformer as make_column_transformer
    from headrace.learn.counterparts import from_sklearn as from_sklearn
    from headrace.learn.decomposition.nmf import NMF as NMF
    from headrace.learn.decomposition.pca import PCA as PCA
    from headrace.learn.decomposition.pca import IncrementalPCA as IncrementalPCA
    from headrace.learn.decomposition.singular import TruncatedSVD as TruncatedSVD
    from headrace.learn.drift import DriftDetector as DriftDetector
    from headrace.learn.ensemble import ExtraTreesClassifier as ExtraTreesClassifier
    from headrace.learn.ensemble import ExtraTreesRegressor as ExtraTreesRegressor
    from headrace.learn.ensemble import IsolationForest as IsolationForest
    from headrace.learn.ensemble import RandomForestClassifier as RandomForestClassifier
    from headrace.learn.ensemble import RandomForestRegressor as RandomForestRegressor
    from headrace.learn.files import load as load
    from headrace.learn.linear.elastic_net import ElasticNet as ElasticNet
    from headrace.learn.linear.elastic_net import Lasso as Lasso
    from headrace.learn.linear.least_squares import LinearRegression as LinearRegression
    from headrace.learn.linear.least_squares import Ridge as Ridge
    from headrace.learn.linear.logistic import LogisticRegression as LogisticRegression
    from headrace.learn.linear.margin import LinearSVC as LinearSVC
    from headrace.learn.linear.margin import LinearSVR as LinearSVR
    from headrace.learn.linear.paths import ElasticNetCV as ElasticNetCV
    from headrace.learn.linear.paths import LassoCV as LassoCV
    from headrace.learn.linear.paths import enet_path as enet_path
    from headrace.learn.linear.paths import lasso_path as lasso_path
    from headrace.learn.linear.ridge_cv import RidgeCV as RidgeCV
    from headrace.learn.manifold.tsne import TSNE as TSNE
    from headrace.learn.manifold.umap import UMAP as UMAP
    from headrace.learn.naive_bayes import GaussianNB as GaussianNB
    from headrace.learn.naive_bayes import MultinomialNB as MultinomialNB
    from headrace.learn.neighbors import KNeighborsClassifier as KNeighborsClassifier
    from headrace.learn.neighbors import KNeighborsRegressor as KNeighborsRegressor
    from headrace.learn.neighbors import NearestNeighbors as NearestNeighbors
    from headrace.learn.pipeline import Pipeline as Pipeline
    from headrace.learn.pipeline import make_pipeline as make_pipeline
    from headrace.learn.preparation.bins import KBinsDiscretizer as KBinsDiscretizer
    from headrace.learn.preparation.bins import QuantileTransformer as QuantileTransformer
    from headrace.learn.preparation.category_encoder import CategoryEncoder as CategoryEncoder
    from headrace.learn.preparation.category_encoder import HashEncoder as HashEncoder
    from headrace.learn.preparation.encoders import LabelBinarizer as LabelBinarizer
    from headrace.learn.preparation.encoders import LabelEncoder as LabelEncoder
    from headrace.learn.preparation.encoders import OneHotEncoder as OneHotEncoder
    from headrace.learn.preparation.encoders import OrdinalEncoder as OrdinalEncoder
    from headrace.learn.preparation.group_features import GroupStatistics as GroupStatistics
    from headrace.learn.preparation.group_features import Lag as Lag
    from headrace.learn.preparation.imputer import PolynomialFeatures as PolynomialFeatures
    from headrace.learn.preparation.imputer import SimpleImputer as SimpleImputer
    from headrace.learn.preparation.scalers import MaxAbsScaler as MaxAbsScaler
    from headrace.learn.preparation.scalers import MinMaxScaler as MinMaxScaler
    from headrace.learn.preparation.scalers import Normalizer as Normalizer
    from headrace.learn.preparation.scalers import RobustScaler as RobustScaler
    from headrace.learn.preparation.scalers import StandardScaler as StandardScaler
    from headrace.learn.preparation.target_encoder import TargetEncoder as TargetEncoder
    from headrace.learn.selection.candidates import ParameterGrid as ParameterGrid
    from headrace.learn.selection.candidates import ParameterSampler as ParameterSampler
    from headrace.learn.selection.curves import learning_curve as learning_curve
    from headrace.learn.selection.curves import validation_curve as validation_curve
    from headrace.learn.selection.search import GridSearchCV as GridSearchCV
    from headrace.learn.selection.search import HalvingGridSearchCV as HalvingGridSearchCV
    from headrace.learn.selection.search import RandomizedSearchCV as RandomizedSearchCV
    from headrace.learn.selection.splits import GroupKFold as GroupKFold
    from headrace.learn.selection.splits import KFold as KFold
    from headrace.learn.selection.splits import StratifiedKFold as StratifiedKFold
    from headrace.learn.selection.splits import TimeSeriesSplit as TimeSeriesSplit
    from headrace.learn.selection.splits import train_test_split as train_test_split
    from headrace.learn.selection.validation import cross_val_predict as cross_val_predict
    from headrace.learn.selection.validation import cross_val_score as cross_val_score
    from headrace.learn.selection.validation import cross_validate as cross_validate
    from headrace.learn.svm import SVC as SVC
    from headrace.learn.svm import SVR as SVR
    from headrace.learn.text import CountVectorizer as CountVectorizer
    from headrace.learn.text import HashingVectorizer as HashingVectorizer
    from headrace.learn.text import TfidfTransformer as TfidfTransformer
    from headrace.learn.text import TfidfVectorizer as TfidfVectorizer

#: Where each public name is defined; a module is imported on first use.
_MODULES = {
    "base": "ConvergenceWarning NotFittedError",
    "preparation.bins": "KBinsDiscretizer QuantileTransformer",
    "boost": "xgboost_matrix",
    "cluster.dbscan": "DBSCAN",
    "cluster.hdbscan": "HDBSCAN",
    "cluster.kmeans": "KMeans",
    "cluster.minibatch": "MiniBatchKMeans",
    "naive_bayes": "GaussianNB MultinomialNB",
    "manifold.tsne": "TSNE",
    "manifold.umap": "UMAP",
    "neighbors": "NearestNeighbors KNeighborsClassifier KNeighborsRegressor",
    "decomposition.pca": "IncrementalPCA PCA",
    "drift": "DriftDetector",
    "preparation.category_encoder": "CategoryEncoder HashEncoder",
    "preparation.group_features": "GroupStatistics Lag",
    "preparation.encoders": "LabelBinarizer LabelEncoder OneHotEncoder OrdinalEncoder",
    "ensemble": "ExtraTreesClassifier ExtraTreesRegressor "
    "IsolationForest RandomForestClassifier RandomForestRegressor",
    "counterparts": "from_sklearn",
    "files": "load",
    "preparation.imputer": "PolynomialFeatures SimpleImputer",
    "linear.elastic_net": "ElasticNet Lasso",
    "linear.least_squares": "LinearRegression Ridge",
    "linear.logistic": "LogisticRegression",
    "linear.margin": "LinearSVC LinearSVR",
    "linear.paths": "ElasticNetCV LassoCV enet_path lasso_path",
    "linear.ridge_cv": "RidgeCV",
    "decomposition.nmf": "NMF",
    "column_transformer": "ColumnTransformer FeatureUnion make_column_transformer",
    "pipeline": "Pipeline make_pipeline",
    "preparation.scalers": "MaxAbsScaler MinMaxScaler Normalizer RobustScaler StandardScaler",
    "decomposition.singular": "TruncatedSVD",
    "selection.candidates": "ParameterGrid ParameterSampler",
    "selection.curves": "learning_curve validation_curve",
    "selection.validation": "cross_val_predict cross_val_score cross_validate",
    "selection.search": "GridSearchCV HalvingGridSearchCV RandomizedSearchCV",
    "selection.splits": "GroupKFold KFold StratifiedKFold TimeSeriesSplit train_test_split",
    "preparation.target_encoder": "TargetEncoder",
    "svm": "SVC SVR",
    "text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
}

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "NMF",
    "PCA",
    "SVC",
    "SVR",
    "TSNE",
    "UMAP",
    "CategoryEncoder",
    "ColumnTransformer",
    "ConvergenceWarning",
    "CountVectorizer",
    "DriftDetector",
    "ElasticNet",
    "ElasticNetCV",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FeatureUnion",
    "GaussianNB",
    "GridSearchCV",
    "GroupKFold",
    "GroupStatistics",
    "HalvingGridSearchCV",
    "HashEncoder",
    "HashingVectorizer",
    "IncrementalPCA",
    "IsolationForest",
    "KBinsDiscretizer",
    "KFold",
    "KMeans",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LabelBinarizer",
    "LabelEncoder",
    "Lag",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MaxAbsScaler",
    "MinMaxScaler",
    "MultinomialNB",
    "NearestNeighbors",
    "Normalizer",
    "NotFittedError",
    "OneHotEncoder",
    "OrdinalEncoder",
    "ParameterGrid",
    "ParameterSampler",
    "Pipeline",
    "PolynomialFeatures",
    "QuantileTransformer",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomizedSearchCV",
    "Ridge",
    "RidgeCV",
    "RobustScaler",
    "SimpleImputer",
    "StandardScaler",
    "StratifiedKFold",
    "TargetEncoder",
    "TfidfTransformer",
    "TfidfVectorizer",
    "TimeSeriesSplit",
    "TruncatedSVD",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "enet_path",
    "from_sklearn",
    "lasso_path",
    "learning_curve",
    "load",
    "make_column_transformer",
    "make_pipeline",
    "metrics",
    "train_test_split",
    "validation_curve",
    "xgboost_matrix",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


_named = on_first_use(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"{__name__}.metrics") if name == "metrics" else _named(name)
