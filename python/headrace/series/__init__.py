# SPDX-License-Identifier: Apache-2.0
"""Series: the class, its accessors, and one module per topic of its methods."""
