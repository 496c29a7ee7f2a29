"""Makes test calls on functions in this process: references, known misconceptions, and other trusted code."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from autograder.grading.call_results import TestCall
from autograder.sandbox import wire
from autograder.sandbox.protocol import Error, Raised, Response
from autograder.sandbox.student.calls import Absent, Calls
from autograder.values.errors import builtin_kinds, passed, text_of
from autograder.values.tree import copied


class Direct:
    """Makes test calls, in order, on a fixed set of functions."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]):
        self.functions = functions
        self._calls = Calls(wire.MAX_FROM_STUDENT)

    def respond(self, test_call: TestCall) -> Response:
        """The response of a student's process with these functions."""
        try:
            if test_call.kind == "call":
                return self._call(test_call)
            if test_call.kind == "changes":
                return Response(changed=tuple(self._calls.changes(test_call.about)))
            if test_call.kind == "look":
                return Response(copied(self._calls.look(test_call.args[0])))
            self._calls.write(*test_call.args)
        except Raised as raised:
            error = raised.error
            if not isinstance(error, Exception):  # such as Ctrl-C
                raise error from None
            hint, kinds = "absent" if isinstance(error, Absent) else "", tuple(builtin_kinds(error))
            names = tuple(passed(error, lambda name: True))
            return Response(error=Error(kinds, text_of(error), "", 0, hint, names))
        return Response()

    def _call(self, test_call: TestCall) -> Response:
        function = self.functions.get(test_call.target.function)
        if function is None:
            return Response(error=Error(("AttributeError",), "", "", 0, "missing"))
        args, kwargs = copied(test_call.args), copied(dict(test_call.kwargs))  # arrays keep their memory layout
        response = self._calls.call(function, args, kwargs, test_call.rules.checks, test_call.number)
        return replace(response, value=copied(response.value))  # a later call may write into the result


def direct_responses(functions: Mapping[str, Callable[..., Any]], test_calls: Iterable[TestCall]) -> list[Response]:
    """The responses to test calls of one test plan, in order."""
    return list(map(Direct(functions).respond, test_calls))
