# SPDX-License-Identifier: GPL-3.0-or-later
"""How pictures look, and the pictures of an exchange, a throughput and a scenario."""
