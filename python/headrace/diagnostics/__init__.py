# SPDX-License-Identifier: Apache-2.0
"""What Headrace needs of a machine: `hr.doctor`."""
