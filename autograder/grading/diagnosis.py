"""Temporary."""
from typing import Any


def diagnose(target: Any, records: Any) -> None:
    return None
