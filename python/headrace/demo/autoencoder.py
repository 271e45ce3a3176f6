# SPDX-License-Identifier: Apache-2.0
"""A small variational autoencoder in PyTorch, on Headrace's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

_STEPS = 600
_BATCH = 512
_HIDDEN = 64
_LATENT = 2  # the decoder sees exactly the two plotted coordinates


def train_and_score(
    train: Array,
    test: Array,
    seed: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Train on the rows of `train`; return outlier scores and latent coordinates of `test`.

    Both tensors share the arrays' memory (DLPack); PyTorch only reads them. Loss and score are the
    negative evidence lower bound of Kingma and Welling, "Auto-Encoding Variational Bayes" (2013),
    with unit variance. Reproducible for a seed on one machine: PyTorch uses one thread, which is as
    fast for a model of this size.
    """
    import torch
    from torch import nn

    x, y = train.to_torch(), test.to_torch()
    if x.data_ptr() != train.to_numpy().ctypes.data or y.data_ptr() != test.to_numpy().ctypes.data:
        raise RuntimeError("autoencoder: PyTorch copied the beats")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    width = x.shape[1]
    encode = nn.Sequential(nn.Linear(width, _HIDDEN), nn.ELU(), nn.Linear(_HIDDEN, 2 * _LATENT))
    decode = nn.Sequential(nn.Linear(_LATENT, _HIDDEN), nn.ELU(), nn.Linear(_HIDDEN, width))

    def bound(rows: torch.Tensor, noise: float) -> tuple[torch.Tensor, torch.Tensor]:
        mean, logarithm = encode(rows).chunk(2, dim=1)
        code = mean + noise * torch.exp(0.5 * logarithm) * torch.randn_like(mean)
        error = (decode(code) - rows).square().sum(dim=1)
        divergence = (mean.square() + logarithm.exp() - 1 - logarithm).sum(dim=1)
        return 0.5 * (error + divergence), mean

    optimiser = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=2e-3)
    for step in range(_STEPS):
        loss = bound(x[torch.randint(len(x), (_BATCH,))], noise=1.0)[0].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        progress((step + 1) / _STEPS)
    with torch.no_grad():
        score, place = bound(y, noise=0.0)
    torch.set_num_threads(threads)
    return score.numpy(), place.numpy()
