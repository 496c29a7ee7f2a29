"""The workers of a Dask scheduler as a pool."""

import logging
from typing import Any

from autograder.cohort.pool import Pool

CONNECT = "15s"


class ClusterError(Exception):
    """There is no cluster to grade on; the text says why and what to do."""


def connected(address: str) -> Pool:
    """Raises ClusterError."""
    try:
        import distributed  # an extra, and slow to import
    except ImportError:
        raise ClusterError("needs Dask: pip install 'transformer-homework[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"there is no Dask scheduler ({error})") from error
    workers = len(client.nthreads())
    if not workers:
        client.close()
        raise ClusterError(f"the scheduler has no workers; start some with `dask worker {address}`")
    return Pool(client.get_executor, workers, client.close)
