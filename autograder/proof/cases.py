"""What the audit submits: known mistakes alone and in pairs, unfinished work, code that computes nothing, correct alternatives."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from autograder.homework import kit, mistakes
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.mistakes import Mistake
from autograder.homework.trivial import TRIVIAL, trivial
from autograder.intake.submission import Submission, read

ALTERNATIVES = kit.PACKAGE / "proof" / "alternatives"
HOLES = ("as handed out", "pass", "return None", "misspelt", "deleted")  # what is in the place of a function
Kind = Literal["mistake", "pair", "hole", "nothing", "mutant", "alternative"]


@dataclass(frozen=True)
class Case:
    """One submission of the audit: a perfect one, but for one function of `module` that has these mistakes.

    A "hole" has nothing in the place of the function, as `hole` (one of HOLES) says. "nothing" computes nothing, in one
    function or (`function` is "") in all of the module. A "mutant" is made by machine, `changed` is its text. An "alternative"
    is correct, and is about no module. `name` tells cases of a kind apart.
    """

    kind: Kind
    name: str
    module: str = ""
    function: str = ""
    mistakes: tuple[Mistake, ...] = ()
    hole: str = ""
    changed: str = field(default="", repr=False)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(mistake.id for mistake in self.mistakes)

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria that the mistakes belong to."""
        return frozenset(criterion for mistake in self.mistakes for criterion in mistake.criteria)

    @property
    def source(self) -> str:
        """The wrong function, or functions, as a student would write it; "" for an alternative."""
        if not self.mistakes or self.kind == "nothing":
            return self.changed or "\n\n".join(mistake.source for mistake in self.mistakes)
        version = mistakes.made(self.module, self.function, self.mistakes)
        assert version is not None, f"{self.name}: these mistakes cannot stand together"
        return version.source


def cases(only: Collection[str] = ()) -> list[Case]:
    """Every known mistake in each of its ways, all code that computes nothing, and every alternative; of some modules only, if
    given."""
    chosen = [name for name in rubrics.current().modules if not only or name in only]
    return [case for name in chosen for case in (*singles(name), *holes(name), *nothings(name))] + alternatives()


def singles(module: str) -> list[Case]:
    """Every known mistake of a module alone, in each of its ways."""
    known = mistakes.of_module(module)
    ways = {m.id: sum(other.id == m.id for other in known) for m in known}
    return [
        Case("mistake", f"{m.id} ({m.way + 1} of {ways[m.id]})" if ways[m.id] > 1 else m.id, module, m.function, (m,))
        for m in known
    ]


def holes(module: str) -> list[Case]:
    """Each function of a module that is explained, not done in each way."""
    functions = rubrics.current().modules[module].functions if mistakes.of_module(module) else ()
    return [Case("hole", f"{f}, {hole}", module, f, hole=hole) for f in functions for hole in HOLES]


def nothings(module: str) -> list[Case]:
    """Code that computes nothing in the place of each function of a module that is explained, then of all of them."""
    if not mistakes.of_module(module):
        return []
    each = {f: trivial(module, f) for f in rubrics.current().modules[module].functions}
    found = [Case("nothing", m.id, module, f, (m,)) for f, own in each.items() for m in own]
    for number, name in enumerate((*TRIVIAL, "first_argument")):
        found.append(
            Case(
                "nothing", f"{module}.*.{name}", module, "", tuple(own[number] for own in each.values() if own[number:])
            )
        )
    return found


def alternatives() -> list[Case]:
    """The correct solutions in other styles; none where the kit was installed without them."""
    return [Case("alternative", path.name) for path in sorted(ALTERNATIVES.glob("[!_.]*/"))]


def containing(module: str) -> str:
    """How many of the alternatives contain a module, in a sentence; in the others the reference stands in its place."""
    every = alternatives()
    number = sum((ALTERNATIVES / case.name / f"{module}.py").is_file() for case in every)
    proved = "" if number else ": nothing proves that what is correct there loses nothing"
    return f"{number} of {len(every)} alternatives contain {module}.py{proved}"


def pairs(only: Collection[str] = ()) -> Iterator[Case]:
    """Every two mistakes of one function that can stand in it together; of several ways the first."""
    for module, entry in rubrics.current().modules.items():
        for function in entry.functions if not only or module in only else ():
            known = [m for m in mistakes.of_function(module, function) if m.way == 0]
            for both in combinations(known, 2):
                if mistakes.made(module, function, both) is not None:
                    yield Case("pair", " + ".join(m.id for m in both), module, function, both)


def sample(chosen: list[Case], each: int) -> list[Case]:
    """The same few cases of every function and kind, from the middle of equal shares of those that there are."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in chosen:
        groups.setdefault((case.function, case.kind), []).append(case)
    return [own[len(own) * (2 * n + 1) // (2 * each)] for own in groups.values() for n in range(each) if n < len(own)]


def submission(case: Case) -> Submission:
    """The files of a case: the references, with its own in their place."""
    files = references.files()
    if case.kind == "alternative":
        return Submission(case.name, files | read(ALTERNATIVES / case.name, rubrics.current().limits).files)
    name = f"{case.module}.py"
    text = _with_hole(files[name].decode(), case) if case.hole else f"{files[name].decode()}\n\n{case.source}"
    return Submission(case.name, files | {name: text.encode()})


def _with_hole(text: str, case: Case) -> str:
    """A module without one of its functions, or with a function that does nothing in its place."""
    tree = ast.parse(text)
    [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == case.function)
    if case.hole == "deleted":
        tree.body.remove(function)
    elif case.hole == "misspelt":
        function.name += "_"
    else:
        unwritten = f'raise NotImplementedError("{case.function} is not written yet")'
        body = unwritten if case.hole == "as handed out" else case.hole
        function.body = ast.parse(f"def f(): {body}").body[0].body  # type: ignore[attr-defined]
    return ast.unparse(tree)
