# SPDX-License-Identifier: Apache-2.0
"""peer_excuses.py - what has no peer, and why. An excuse that has become idle is a failure."""

OPS = {}

GRADIENTS = {}
