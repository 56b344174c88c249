# SPDX-License-Identifier: Apache-2.0
"""peer_excuses.py - what a peer does not compare, and why. An excuse that has become idle is a failure."""

DRAWN = "its numbers are those of this Philox, restated beside NumPy; PyTorch draws others"

# Ops that neither peer compares.
OPS = {}

# Ops that NumPy alone compares.
TORCH = {
    "random_bits": DRAWN, "random_uniform": DRAWN, "random_normal": DRAWN, "random_integer": DRAWN,
    "uniform": DRAWN, "bernoulli": DRAWN, "categorical": DRAWN, "shuffle": DRAWN,
    "dynamic_quantize": "its observers choose the scale otherwise",
    "requantize": "it has no product of scales apart from its own layers",
}

# Ops whose gradient autograd does not compare.
GRADIENTS = {}
