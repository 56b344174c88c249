# SPDX-License-Identifier: Apache-2.0
"""peer_excuses.py - ops that a peer does not compare, with the reason. peers.py fails if an excuse is not needed."""

DRAWN = "its numbers are those of this Philox, restated for NumPy; PyTorch draws others"

# Ops that neither NumPy nor PyTorch compares with Volta, with the reason.
OPS = {}

# Ops that only NumPy compares with Volta, with the reason why PyTorch cannot.
TORCH = {
    "random_bits": DRAWN, "random_uniform": DRAWN, "random_normal": DRAWN, "random_integer": DRAWN,
    "uniform": DRAWN, "bernoulli": DRAWN, "categorical": DRAWN, "shuffle": DRAWN,
    "dynamic_quantize": "its observers choose the scale otherwise",
    "requantize": "it has no product of scales apart from its own layers",
}

# Ops whose gradient PyTorch's autograd cannot compare with Volta's, with the reason.
GRADIENTS = {}
