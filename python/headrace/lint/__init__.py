# SPDX-License-Identifier: Apache-2.0
"""Find slow patterns in source code, of which nothing is run: `python -m headrace lint`."""
