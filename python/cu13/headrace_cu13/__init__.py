# SPDX-License-Identifier: Apache-2.0
"""The engine of Headrace with CUDA: ``import headrace`` takes it where there is a driver."""
