# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements that print each figure beside its target."""
