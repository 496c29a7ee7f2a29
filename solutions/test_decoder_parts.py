"""Your own tests of three functions of your choice.

The grader runs this file on code that you cannot see. Your tests of a function must pass on every correct solution, in any style.
They earn points for the share of known mistakes that make at least one of them fail. An example:

    def test_layer_norm_of_equal_features():
        x, beta = np.full((2, 3), 7.0), np.array([1.0, -2.0, 0.5])
        np.testing.assert_allclose(layer_norm(x, np.ones(3), beta), [beta, beta], atol=1e-9)

- The name of a test begins with the function it tests: test_layer_norm_..., test_scaled_dot_product_attention_...,
  test_causal_mask_... or any other function of your modules. The first three functions in this file count.
- A test is a plain function at the top level. It may use assert, numpy.testing, pytest.raises and pytest.mark.parametrize; pytest
  has nothing else here: no fixtures, no approx, no test classes. Import only NumPy, the standard library, pytest and your modules.
- Correct solutions differ in the last digits of a result: compare numbers with numpy.testing.assert_allclose.
- Pass required arguments by position, and those with a default by name: correct solutions may name the others differently.
- Test only what the docstring of the function promises. The text of an error is up to each solution.

Run your tests on your own functions with `pytest test_decoder_parts.py`, and on a few correct and wrong versions with
`pytest --test-my-tests`.
"""

import numpy as np
import pytest

from causal_mask import causal_mask
from layernorm import layer_norm
from scaled_attention import scaled_dot_product_attention

# Write your tests here.
