# SPDX-License-Identifier: Apache-2.0
"""Scalers, encoders and imputers: columns made ready for models."""
