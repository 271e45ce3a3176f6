# SPDX-License-Identifier: Apache-2.0
"""A small variational autoencoder in PyTorch, on Headrace's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.array import Array

    import numpy as np
    import numpy.typing as npt


def available() -> bool:
    """Whether PyTorch can be imported."""
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def train_and_score(
    train: Array,
    test: Array,
    seed: int = 1,
    epochs: int = 12,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Train on the rows of `train`; outlier scores and latent coordinates of the rows of `test`.

    Both tensors stand on the arrays' own memory (DLPack); PyTorch only reads them. The loss is that
    of Kingma and Welling, "Auto-Encoding Variational Bayes" (2013), with unit variance; the score is
    the reconstruction error. The same numbers for the same seed on one machine.
    """
    import torch
    from torch import nn

    x, y = train.to_torch(), test.to_torch()
    if x.data_ptr() != train.to_numpy().ctypes.data:
        raise RuntimeError("autoencoder: PyTorch copied the beats")
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    features, latent = x.shape[1], 8

    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Sequential(
                nn.Linear(features, 128), nn.ELU(), nn.Linear(128, 48), nn.ELU(), nn.Linear(48, 2 * latent)
            )
            self.decode = nn.Sequential(
                nn.Linear(latent, 48), nn.ELU(), nn.Linear(48, 128), nn.ELU(), nn.Linear(128, features)
            )

        def forward(self, rows: Any, noise: Any) -> tuple[Any, Any, Any]:
            mean, logarithm = self.encode(rows).chunk(2, dim=1)
            return self.decode(mean + torch.exp(0.5 * logarithm) * noise), mean, logarithm

    model = Autoencoder()
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(seed)
    batch = 512
    for epoch in range(epochs):
        for rows in torch.randperm(len(x), generator=generator).split(batch):
            noise = torch.randn(len(rows), latent, generator=generator)
            drawn, mean, logarithm = model(x[rows], noise)
            error = (drawn - x[rows]).square().sum(dim=1)
            divergence = 0.5 * (mean.square() + logarithm.exp() - 1 - logarithm).sum(dim=1)
            loss = (error + 0.5 * divergence).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        progress((epoch + 1) / epochs)
    with torch.no_grad():
        drawn, mean, _ = model(y, torch.zeros(len(y), latent))
        score = (drawn - y).square().mean(dim=1)
        spread = mean.var(dim=0).argsort(descending=True)[:2]
    return score.numpy(), mean[:, spread].numpy()
