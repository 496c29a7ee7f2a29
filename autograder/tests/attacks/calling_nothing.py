"""Students' tests that call no function of the homework, and fail if they find a sign that a function has been edited."""

from collections.abc import Mapping

LOOKING = """
import sys


def remembered(function):
    \"\"\"The code of the function in the first version in this process.\"\"\"
    return vars(sys).setdefault(f"first {function.__name__}", function.__code__)


def is_new(function):
    return function.__code__ != remembered(function)


def others(function):
    \"\"\"The code of the other functions of the module.\"\"\"
    found = [getattr(other, "__code__", None) for other in function.__globals__.values() if other is not function]
    return [code for code in found if code is not None and code.co_filename == function.__code__.co_filename]


def is_last(function):
    lines = [code.co_firstlineno for code in others(function)]
    return bool(lines) and function.__code__.co_firstlineno > max(lines)


def is_numbered(function):
    code = function.__code__
    return {line for *_, line in code.co_lines() if line} != {code.co_firstlineno} or bool(function.__doc__)
"""
SIGNS = ("is_new({0})", "is_last({0}) and is_new({0})", "is_numbered({0})")


def tests(functions: Mapping[str, str]) -> str:
    """The text of a file with a test for each sign of each function; `functions` are the modules by function."""
    imports = "".join(f"from {module} import {function}\n" for function, module in functions.items())
    bodies = [
        f"\n\ndef test_{function}_{number}():\n    assert not ({sign.format(function)})\n"
        for function in functions
        for number, sign in enumerate(SIGNS)
    ]
    return imports + LOOKING + "".join(bodies)
