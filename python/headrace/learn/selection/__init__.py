# SPDX-License-Identifier: Apache-2.0
"""Rows to train and to test on, and searches for parameters over them."""
