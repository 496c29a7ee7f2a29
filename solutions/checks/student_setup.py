"""Says in one sentence why the homework cannot run with this Python or NumPy.

conftest.py, train.py and the notebook load this file first, so it must run with every Python 3.
"""

import sys


def obstacle() -> str:
    """Return the reason and what to do; "" if the homework can run."""
    if sys.version_info < (3, 11):  # noqa: UP036 - students may have an older one
        found = f"Python {sys.version.split()[0]} ({sys.executable})"
        advice = "install a newer one, and set up the folder again with it, as README.md describes"
        return f"The homework needs Python 3.11 or newer, but this is {found}: {advice}."
    try:
        import numpy
    except ImportError:
        return f"NumPy is missing; install it with: {sys.executable} -m pip install numpy"
    if int(numpy.__version__.partition(".")[0]) < 2:
        upgrade = f"{sys.executable} -m pip install --upgrade numpy"
        return (
            f"The homework needs NumPy 2.0 or newer, but this is NumPy {numpy.__version__}; upgrade it with: {upgrade}"
        )
    return ""
