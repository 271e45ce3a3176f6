# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C stops each long fit at once."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from headrace import learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60_000, 20))
WIDE = RNG.normal(size=(6_000, 300))
LABELS = (X[:, 0] + RNG.normal(size=len(X)) > 0).astype(int)
FITS = {
    "KMeans": lambda: learn.KMeans(200, n_init=20, tol=0).fit(X),
    "HDBSCAN": lambda: learn.HDBSCAN().fit(X[:30_000]),
    "NearestNeighbors": lambda: learn.NearestNeighbors().fit(X).kneighbors(X),
    "LogisticRegression": lambda: learn.LogisticRegression(C=1e6, tol=1e-14, max_iter=100_000).fit(
        np.vstack([WIDE] * 5), np.tile(WIDE[:, :9].argmax(1), 5)
    ),
    "SVC": lambda: learn.SVC(C=100).fit(X[:20_000], LABELS[:20_000]),
    "SVR": lambda: learn.SVR(C=100).fit(X[:20_000], X[:20_000, 0] ** 2),
    "RandomForestClassifier": lambda: learn.RandomForestClassifier(2000).fit(X, LABELS),
    "NMF": lambda: learn.NMF(50, max_iter=10_000, tol=0).fit(abs(WIDE)),
    "TSNE": lambda: learn.TSNE(max_iter=10_000).fit_transform(X[:10_000]),
    "UMAP": lambda: learn.UMAP(n_epochs=10_000).fit_transform(X[:10_000]),
    "GridSearchCV": lambda: learn.GridSearchCV(
        learn.RandomForestClassifier(500), {"max_depth": [8, 12, 16]}
    ).fit(X, LABELS),
}


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_stops_a_fit(name):
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            FITS[name]()
        assert time.perf_counter() - sent[0] < 2.0  # 0.1 s on an idle machine
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, former)
