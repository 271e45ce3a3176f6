# SPDX-License-Identifier: Apache-2.0
"""Embeddings in which neighbours stay neighbours."""
