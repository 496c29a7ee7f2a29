"""Small edits of a function's source: their kinds, their order and their scope."""

import ast

import pytest

from autograder.shared.edits import MOST_EDITS, Edit, Text

# A wrong line, and the correct line that a single edit makes of it.
WRONG = {
    "operator": ("return x + y", "return x - y"),
    "operand only": ("return x + y", "return x"),
    "regrouped": ("return x * y + 1", "return x * (y + 1)"),
    "name": ("return x * y", "return x * x"),
    "constant": ("return x[0]", "return x[1]"),
    "negative constant": ("return x.mean(-1)", "return x.mean(-2)"),
    "number of the docstring": ("return x * 10.0", "return x * 512"),
    "key": ('return x["beta"] * y["gamma"]', 'return x["beta"] * y["beta"]'),
    "default": ("return x", "return x"),
    "comparison": ("return x < y", "return x <= y"),
    "order of results": ("return x, y, 1", "return y, 1, x"),
    "order of arguments": ("return f(x, y)", "return f(y, x)"),
    "argument left out": ("return min(x, y, 3)", "return min(x, y)"),
    "argument not handed on": ("return f(x - 1, y=y)", "return f(x - 1)"),
    "call left out": ("return np.squeeze(x)", "return x"),
    "method left out": ("return x.copy()", "return x"),
    "reduction": ("return x.sum(axis=0)", "return x.mean(axis=0)"),
    "keyword": ("return x.mean(axis=0)", "return x.mean(axis=0, keepdims=True)"),
    "keyword left out": ("return x.var(axis=0, ddof=1)", "return x.var(axis=0)"),
    "keyword everywhere": (
        "return x.mean(axis=0) - y.sum(axis=0)",
        "return x.mean(axis=-1, keepdims=True) - y.sum(axis=-1, keepdims=True)",
    ),
    "name everywhere": ("return x * x + y", "return y * y + y"),
    "slice": ("return x[1:]", "return x[:-1]"),
    "condition": ("return x if y else 1", "return 1 if y else x"),
    "nested": ("return np.sqrt(x) + 1", "return np.sqrt(x + 1)"),
    "one more": ("return range(x)", "return range(x + 1)"),
    "transposed": ("return y @ x", "return y @ x.T"),
    "value never used": ("z = x.sum()\n    return x / len(x)", "z = x.sum()\n    return x / z"),
}


def text(body: str) -> str:
    return f'def f(x, y=2):\n    """There are 512."""\n    {body}\n'


def versions(source: str) -> list[str]:
    found, tree = Text(source.encode(), "f", ()), []
    for edit in found.edits:
        with edit.applied():
            tree.append(ast.unparse(ast.fix_missing_locations(found.tree)))
    return tree


@pytest.mark.parametrize("kind", WRONG)
def test_correct_line_is_among_the_edits_of_the_wrong_one(kind: str) -> None:
    wrong, right = WRONG[kind]
    wanted = text(right) if kind != "default" else text(right).replace("y=2", "y=1")
    assert ast.unparse(ast.parse(wanted)) in versions(text(wrong))


def test_edits_are_undone_and_deterministic() -> None:
    source = text("for i in range(y):\n        x = x - i * np.mean(x, axis=0)\n    return x, y")
    found = Text(source.encode(), "f", ())
    before = ast.dump(found.tree)
    for edit in found.edits:
        with edit.applied():
            assert ast.dump(found.tree) != before
    assert ast.dump(found.tree) == before
    again = Text(source.encode(), "f", ()).edits
    assert [_content(edit) for edit in found.edits] == [_content(edit) for edit in again]
    assert [edit.size for edit in again] == sorted(edit.size for edit in again)


def _content(edit: Edit) -> tuple[tuple[int, ...], int, list[str]]:
    return edit.lines, edit.size, [ast.dump(node) if isinstance(node, ast.AST) else "" for node in edit.new]


def test_edits_of_a_short_helper_are_within_the_limit() -> None:
    long = "".join(f"    a_{n} = x * {n} + a_{max(0, n - 1)}\n" for n in range(40))
    source = f"def _g(x):\n    return np.sqrt(x) + 1\ndef f(x):\n{long}    return _g(a_0)\n"
    found = Text(source.encode(), "f", ())
    of_helper = [number for number, edit in enumerate(found.edits) if edit.lines == (2,) and edit.size <= 2]
    assert max(of_helper) < MOST_EDITS < len(found.edits)


@pytest.mark.parametrize(
    ("wrong", "right"), [("-2", "-1"), ("2", "-1"), ("np.sqrt(x) + 1", "np.sqrt(x + 1)"), ("x - y", "y - x")]
)
def test_a_negative_number_is_one_node_and_a_moved_node_counts_once(wrong: str, right: str) -> None:
    found = Text(text(f"return {wrong}").encode(), "f", ())
    assert min(edit.size for edit in found.edits if ast.unparse(edit.new[0]) == right) == 2


def test_a_name_is_not_replaced_by_one_that_is_bound_later() -> None:
    found = Text(text("a = x\n    b = a\n    return b").encode(), "f", ())
    assert {ast.unparse(edit.new[0]) for edit in found.edits if edit.lines == (3,)}.isdisjoint({"b"})


def test_edit_of_several_lines_lists_all_of_them() -> None:
    found = Text(text("x = x.mean(axis=0)\n    return x - y.mean(axis=0)").encode(), "f", ())
    assert (3, 4) in {edit.lines for edit in found.edits}


def test_private_functions_and_constants_are_edited_but_other_functions_are_not() -> None:
    source = "A = 1\nB = 2\ndef _g(x):\n    return x + A\ndef h(x):\n    return B\ndef f(x):\n    return h(_g(x))\n"
    found = Text(source.encode(), "f", ["h"])
    assert {line for edit in found.edits for line in edit.lines} == {1, 4, 8}
