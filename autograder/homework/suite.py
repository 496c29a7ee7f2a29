"""What a hidden suite imports: the marker that names the criterion of a test. Its fixtures are `check`, `reference` and `rng`."""

import pytest

criterion = pytest.mark.criterion

__all__ = ["criterion"]
