# SPDX-License-Identifier: Apache-2.0
"""Matrices as products of thinner ones: PCA, SVD and NMF."""
