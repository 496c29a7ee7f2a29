"""What the fuzz tests share: hypothesis draws anew until the time is over, since a number of examples says little about a wire."""

import functools
import time
from collections.abc import Callable

SECONDS = 45  # for each of them; they run in .ci/full only


def for_a_while(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test of hypothesis again and again, each time with other examples."""

    @functools.wraps(test)
    def again(*args: object, **kwargs: object) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            test(*args, **kwargs)

    return again
