# SPDX-License-Identifier: Apache-2.0
"""Models that predict from weighted sums of the features."""
