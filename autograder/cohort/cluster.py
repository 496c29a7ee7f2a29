"""The workers of a Dask scheduler as a pool.

Before anything is sent, every worker is asked whether it has the kit, and the same one: a worker without it would
never answer, and one with another rubric would give other grades.
"""

import importlib
import logging
from collections.abc import Mapping
from typing import Any

from autograder.cohort import digest
from autograder.cohort.pool import Pool
from autograder.faults import ArgumentsError

CONNECT = "15s"
NAMED = 3  # workers that a message names


def connected(address: str) -> Pool:
    """Raises ArgumentsError where there is no cluster to grade on."""
    try:
        import distributed  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError(f"--cluster {address}: needs Dask: pip install -e '.[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:  # a wrong address may be a ValueError, an OSError, a TimeoutError, a TypeError
        advice = "give its address, as tcp://host:8786"
        raise ArgumentsError(f"--cluster {address}: there is no Dask scheduler ({error}); {advice}") from error
    try:
        _check(client, address)
    except BaseException:
        client.close()
        raise
    return Pool(client.get_executor, len(client.nthreads()), client.close)


def _check(client: Any, address: str) -> None:
    """Raises ArgumentsError unless every worker has this kit."""
    if not client.nthreads():
        raise ArgumentsError(
            f"--cluster {address}: the scheduler has no workers; start some with `dask worker {address}`"
        )
    # A function of the standard library: one of ours could not even arrive where the kit is missing.
    there = client.run(importlib.import_module, "autograder", on_error="return")
    without = [worker for worker, found in there.items() if isinstance(found, BaseException)]
    if without:
        raise ArgumentsError(
            f"--cluster {address}: {_named(without)} cannot import the kit; install it there as it is here"
        )
    kits: Mapping[str, Any] = client.run(digest.of_kit, on_error="return")
    others = [worker for worker, found in kits.items() if found != digest.of_kit()]
    if others:
        what = "another kit (rubric, solutions, package, NumPy or Python) than this command"
        advice = "install the same everywhere and start the workers anew"
        raise ArgumentsError(f"--cluster {address}: {_named(others)} has {what}; {advice}")


def _named(workers: list[str]) -> str:
    more = f" and {len(workers) - NAMED} more" if len(workers) > NAMED else ""
    return f"worker {', '.join(workers[:NAMED])}{more}"
