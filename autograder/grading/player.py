"""One submission's processes, and what is played in them when. The rules of order:

1. A module and one that may ask for its functions are never in one process: there is a process for each level of `uses` in
   the rubric. It imports those of the submission's modules that have been right so far in what other files name, with all that
   they use, and asks for the functions of the others. What is right there is right. What is wrong there is tried in a process
   of its own that asks for all: if anything is otherwise there, the whole module is played again in a level of its own that asks
   for all, and only that counts. So nothing but time is lost by what another module does to their process. The integration, where
   all modules are the submission's, has processes of its own, after everything else.
2. Every import and every call whose result may be shown is made and answered before the first hidden call of the submission.
   So nothing that is shown can carry a hidden input, by whatever channel.
3. Hidden calls are played from the lowest level up. Once a level has had one, no process of a lower level is started or
   called: who may ask for a function learns of its hidden inputs only when its verdict stands.
4. A verdict comes from one run. When a process ends, the steps that it has not answered, and only those, are played in a new
   process for each module; what that second import says is never shown.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

from autograder.grading.judge import judged
from autograder.grading.played import alike
from autograder.grading.record import Record, Step, with_needed
from autograder.grading.script import Script
from autograder.grading.thresholds import BESIDE_OWN, MOST_TRIALS_SPENT, RESTARTS
from autograder.homework import reference as references
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Ended, Error, Reply
from autograder.sandbox.process import SPENT, StudentProcess
from autograder.sandbox.sandbox import Sandbox

TRIALS_AT_ONCE = 32
MISSING = Reply(error=Error(("ModuleNotFoundError",), "", "", 0, "missing"))


@dataclass(frozen=True)
class Imports:
    """What is imported under one context: `modules` of the submission's, beside functions that the reference answers.

    `answered` are those of modules in the place of the submission's own, `helpers` those of the first module itself.
    """

    context: str
    modules: tuple[str, ...]
    answered: Mapping[str, tuple[str, ...]]
    helpers: tuple[str, ...] = ()


class Process(Protocol):
    """Plays steps on what it has imported: a process of the sandbox, or trusted code in this process."""

    @property
    def ended(self) -> Ended | None:
        """Why nothing can be played any more."""

    def load(self, imports: Imports) -> Reply: ...

    def play(self, steps: Sequence[Step]) -> list[Reply]:
        """The replies, up to the end of the process."""

    def close(self) -> None: ...


class SandboxProcess:
    """A student's process, played on by steps."""

    def __init__(self, process: StudentProcess):
        self._process = process

    @property
    def ended(self) -> Ended | None:
        return self._process.ended

    def load(self, imports: Imports) -> Reply:
        stand_ins = references.signatures(imports.answered)
        return self._process.load(imports.context, imports.modules, stand_ins, imports.helpers)

    def play(self, steps: Sequence[Step]) -> list[Reply]:
        return self._process.play([step.call for step in steps])

    def close(self) -> None:
        self._process.close()


@dataclass(eq=False)
class Level:
    """The modules of one level, in their process. `broken` says of a module why it could not be imported.

    What is played in `Player.levels` may be shown, unless they are `late`; others are for a few calls, and what their imports
    say stays in them. `own` are the modules of the submission that the level uses instead of asking for their functions.
    """

    modules: tuple[str, ...]
    own: frozenset[str] = frozenset()
    late: bool = False  # made after the first hidden call
    loaded: dict[str, Imports] = field(default_factory=dict)
    process: Process | None = None
    broken: dict[str, Reply] = field(default_factory=dict)
    asked: bool = False  # its hidden calls have had their turn
    shared: bool = field(init=False)  # by several modules, also where all but one have been given another level since

    def __post_init__(self) -> None:
        self.shared = len(self.modules) > 1


class Player:
    """The processes of one submission, each of which `start` gives; replies are by step."""

    def __init__(self, start: Callable[[float], Process], script: Script, submission: Submission):
        """`start` is told which share of the submission's time one message to the process may take."""
        self.start, self.script, self.submission = start, script, submission
        self.rubric = script.rubric
        self.levels: list[Level] = []
        self.right: dict[str, bool] = {}  # whether a module has been right in all that was played of it
        self.harmful = set[str]()  # modules that have been wrong in something that other files may use
        self.restarts = Counter[str]()  # by context
        self.whole: dict[tuple[str, ...], Level] = {}  # by the correct modules in the place of the submission's
        self.tried: dict[str, Level] = {}  # in which what is wrong beside other modules is tried, by module
        self.edits = 0  # edited versions of its functions that may be tried
        self.spent: Callable[[], float] = float  # the share of its processor time that is used up
        self.charge: Callable[[float], None] = lambda seconds: None  # processor time that the grader takes for it

    @classmethod
    def in_sandbox(
        cls, sandbox: Sandbox, script: Script, submission: Submission, is_reference: bool = False
    ) -> "Player":
        """A player in processes of the sandbox, whose present submission this becomes."""
        sandbox.place(submission.files)

        def start(share: float) -> SandboxProcess:
            process = sandbox.start(share)
            process.is_reference = is_reference
            return SandboxProcess(process)

        player = cls(start, script, submission)
        player.edits = sandbox.limits.repairs
        player.spent = lambda: sandbox.processor_seconds / sandbox.limits.submission_seconds
        player.charge = sandbox.charge
        return player

    def shown(self, modules: Iterable[str]) -> dict[Step, Record]:
        """Import the modules and play what may be shown of them, before any hidden call."""
        records: dict[Step, Record] = {}
        wanted = [name for name in modules if name != INTEGRATION]
        heights = {module: self.rubric.level(module) for module in wanted}
        self.levels = [Level(tuple(m for m in wanted if heights[m] == h)) for h in sorted({*heights.values()})]
        for level in self.levels:  # which may become more on the way: see _load and _ask_instead
            level.own = self._usable(level)
            for module in level.modules:
                self._load(level, self._imports(module, own=level.own))
            records |= self._played(level, {m: self.script.shown(m) for m in level.modules})
        return records

    def alone(self, step: Step) -> Reply:
        """A step that may be shown, once more, in a process that has seen nothing else. Only before the first hidden call."""
        assert not self._frozen, "a shown call after a hidden one"
        level = Level((step.target.module,))
        self._load(level, self._imports(step.target.module))
        broken = level.broken.get(step.target.module)
        reply = broken or (level.process.play([step])[-1] if level.process is not None else SPENT)
        self._close(level)
        return self.alone(step) if reply.ended == Ended("memory") and self._make_room() else reply

    def trials(self, module: str, steps: Sequence[Step]) -> list[Reply]:
        """Made-up public calls, in a process that gets nothing else; fewer where they end it or take long.

        Only before the first hidden call.
        """
        assert not self._frozen, "a shown call after a hidden one"
        level, replies, before = Level((module,)), list[Reply](), self.spent()
        self._load(level, self._imports(module))
        for first in range(0, len(steps), TRIALS_AT_ONCE):
            if level.process is None or level.process.ended is not None or self.spent() - before > MOST_TRIALS_SPENT:
                break
            replies += level.process.play(steps[first : first + TRIALS_AT_ONCE])
        self._close(level)
        return [reply for reply in replies if reply.ended is None]

    def hidden(self, number: int) -> dict[Step, Record]:
        """Play the hidden steps of a level. Levels come from the lowest up, also one that is added on the way, whose records
        then count."""
        level, above = self.levels[number], self.levels[number + 1 :]
        assert not any(higher.asked for higher in above), "a lower level after a higher one"
        for lower in self.levels[:number]:
            self._close(lower)
            for module in self.tried.keys() & set(lower.modules):
                self._close(self.tried[module])
        level.asked = True
        sound = frozenset(filter(self._is_sound, level.own))
        if moved := [module for module in level.modules if self._uses(module, level.own - sound)]:
            self._ask_instead(level, moved, sound)
        for module in level.modules if level.late else ():
            self._load(level, self._imports(module, own=level.own))
        return self._played(level, {m: self.script.hidden.get(m, ()) for m in level.modules})

    def together(self, criterion: str, correct: tuple[str, ...] = ()) -> tuple[dict[Step, Reply], bool]:
        """Play a criterion of the integration; whether the modules could be imported together.

        Only the functions of `correct` modules, which stand in the place of the submission's, may be asked for; the criteria that
        are played beside the same ones have one process. What may be shown comes before the first hidden call, all else after
        every other.
        """
        steps = self.script.together(criterion)
        if self.rubric.criteria[criterion].visible:
            assert not self._frozen, "a shown call after a hidden one"
        else:
            assert all(level.asked for level in self.levels), "the integration before a module"
            for level in self.levels:
                self._close(level)
        level = self.whole.setdefault(correct, Level(()))
        called = dict.fromkeys(step.target.module for step in steps)
        modules = tuple(module for module in called if module not in correct)
        answered = {module: tuple(self.rubric.modules[module].functions) for module in correct}
        imports = Imports(criterion, modules, answered)
        self._load(level, imports)
        # Perhaps it is broken for what other criteria have imported.
        if level.loaded and level.broken.get(criterion, MISSING) is not MISSING:
            self._close(level)
            level.loaded, level.broken = {}, {}
            self._load(level, imports)
        replies = self._play(level, {criterion: steps})
        if self.rubric.criteria[criterion].visible:
            self._close(level)
        return replies, criterion not in level.broken

    def with_helpers(
        self, number: int, module: str, helpers: tuple[str, ...], steps: Sequence[Step]
    ) -> dict[Step, Reply]:
        """Play steps of a module once more, with some of its own functions answered by the reference."""
        with self.apart(number, module, helpers) as play:
            replies = dict(zip(steps, play(steps), strict=False))
        return {step: replies.get(step, SPENT) for step in steps}

    @contextlib.contextmanager
    def apart(
        self, number: int, module: str, helpers: tuple[str, ...], before: Sequence[Step] = ()
    ) -> Iterator[Callable[[Sequence[Step]], list[Reply]]]:
        """What plays steps of a module in a process of its own, with some of its own functions answered by the reference.

        Steps `before` the module is imported are replied to first. Only while its level has its turn: later levels may not have
        been asked yet.
        """
        assert not any(level.asked for level in self.levels[number + 1 :]), "a lower level after a higher one"
        process = self.start(1)
        level, first = Level((module,), process=process), process.play(before) if before else []
        self._load(level, self._imports(module, helpers))

        def play(steps: Sequence[Step]) -> list[Reply]:
            nonlocal first
            is_lost = bool(before) and level.process is not process  # with the process that it was made in
            if is_lost or level.process is None or module in level.broken:
                return []
            replies, first = first + level.process.play(steps), []
            return replies

        try:
            yield play
        finally:
            self._close(level)

    def broken(self, module: str) -> Reply | None:
        """Why a module could not be imported, None if it could."""
        return next((level.broken[module] for level in self.levels if module in level.broken and not level.late), None)

    @property
    def _frozen(self) -> bool:
        """Whether a hidden call may have been made, so that nothing more may be shown."""
        return any(level.asked for level in self.levels)

    def close(self) -> None:
        for level in self._all():
            self._close(level)

    def _all(self) -> list[Level]:
        return [*self.levels, *self.whole.values(), *self.tried.values()]

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    # levels

    def _imports(self, module: str, helpers: tuple[str, ...] = (), own: Set[str] = frozenset()) -> Imports:
        """A module of the submission's, with the functions of other modules that it may ask for: of none that is its `own`."""
        answered = {name: functions for name, functions in self.rubric.neighbours(module).items() if name not in own}
        return Imports(module, (module,), answered, helpers)

    def _load(self, level: Level, imports: Imports) -> None:
        """Import into a level's process, which is started if there is none.

        What ends a process in which others are imported already is given a level of its own, right after it: perhaps
        the process was only too small for all. For what ends it by its memory, processes that wait are ended.
        """
        assert level not in self.levels or level.late or not self._frozen, (
            "an import that may be shown after a hidden call"
        )
        name = imports.context
        if any(f"{module}.py" not in self.submission.files for module in imports.modules):
            level.broken[name] = MISSING
            return
        if level.process is None or level.process.ended is not None:
            self._restart(level, name)
        assert level.process is not None
        reply = level.process.load(imports)
        if reply.ended == Ended("memory") and self._make_room():
            self._restart(level, name)
            reply = level.process.load(imports)
        if reply.ended is not None and level.loaded and level in self.levels:
            level.modules = tuple(module for module in level.modules if module != name)
            self.levels.insert(self.levels.index(level) + 1, Level((name,), late=level.late))
        elif reply.error is not None or reply.ended is not None:
            level.broken[name] = reply
        else:
            level.loaded[name] = imports

    def _restart(self, level: Level, name: str) -> None:
        """A new process in place of one that has ended, with what was imported in it before `name`."""
        self._close(level)
        others = [imports for context, imports in level.loaded.items() if context != name]
        level.process, level.loaded = self.start(BESIDE_OWN if level.own else 1), {}
        for imports in others:
            self._load(level, imports)

    def _close(self, level: Level) -> None:
        if level.process is not None:
            level.process.close()
            level.process = None

    def _make_room(self) -> bool:
        """Close the processes that wait for their turn and may hold the memory that another one needs; whether there were any."""
        waiting = [level for level in self._all() if level.process is not None and level.process.ended is None]
        for level in waiting:
            self._close(level)
        return bool(waiting)

    def _usable(self, level: Level) -> frozenset[str]:
        """The modules that a level may use itself: sound ones, none where one of its own modules has been wrong."""
        if not all(self.right.get(module, True) for module in level.modules):
            return frozenset()
        return frozenset(name for m in level.modules for name in self.rubric.modules[m].uses if self._is_sound(name))

    def _is_sound(self, module: str) -> bool:
        """Whether a module, and all that it uses, has been right so far in what others may use."""
        return all(name in self.right and name not in self.harmful for name in (module, *self.rubric.below(module)))

    def _is_used(self, module: str, function: str) -> bool:
        """Whether another file of the submission may use a function of a module: it has to name it."""
        return any(function.encode() in text for path, text in self.submission.files.items() if path != f"{module}.py")

    def _uses(self, module: str, others: Set[str]) -> bool:
        # A criterion of the integration, which stands in the place of a module, has no others.
        return bool(others) and not others.isdisjoint(self.rubric.modules[module].uses)

    def _ask_instead(self, level: Level, moved: Sequence[str], own: frozenset[str] = frozenset()) -> None:
        """Move modules to a level right after their own, which asks for all that they use but is the submission's `own`."""
        level.modules = tuple(module for module in level.modules if module not in moved)
        for module in moved:
            level.loaded.pop(module, None)
            level.broken.pop(module, None)
        if not level.modules:
            self._close(level)
        self.levels.insert(self.levels.index(level) + 1, Level(tuple(moved), own, late=self._frozen))

    # playing

    def _played(self, level: Level, steps: dict[str, tuple[Step, ...]]) -> dict[Step, Record]:
        """The records of all steps of a level; a module that may be wrong because of others gets a level of its own."""
        replies, records, moved = self._play(level, steps), dict[Step, Record](), []
        for module, own in steps.items():
            records |= zip(own, judged(own, [replies.get(step, SPENT) for step in own]), strict=True)
            failed = [step for step in own if records[step].fault is not None]
            is_whole = module not in level.broken and all(step in replies for step in own)
            self.right[module] = self.right.get(module, True) and is_whole and not failed
            if not is_whole or any(self._is_used(module, function) for function in {s.target.function for s in failed}):
                self.harmful.add(module)
            beside = level.shared or self._uses(module, level.own)
            if beside and (not is_whole or self._is_excused(module, own, failed, replies)):
                moved.append(module)
        for module in reversed(moved):
            self._ask_instead(level, [module])
        return records

    def _is_excused(
        self, module: str, every: Sequence[Step], failed: Sequence[Step], replies: Mapping[Step, Reply]
    ) -> bool:
        """Whether some steps have other replies, or one is right, in a process of the module's own that asks for all it uses."""
        failed = [step for step in failed if replies[step].ended is None]  # others have had a process of their own
        if not failed:
            return False
        level, steps = self.tried.setdefault(module, Level((module,))), with_needed(every, failed)
        if level.process is None or level.process.ended is not None:
            self._load(level, self._imports(module))
        alone = self._play(level, {module: tuple(steps)})
        records = zip(steps, judged(steps, [alone.get(step, SPENT) for step in steps]), strict=True)
        tried = [record for step, record in records if step in failed]
        return any(r.fault is None or not alike(r.step, r.reply, replies[r.step]) for r in tried)

    def _play(self, level: Level, steps: dict[str, tuple[Step, ...]]) -> dict[Step, Reply]:
        """Replies to all steps of a level: those of a module that cannot be imported say why."""
        replies = {step: level.broken[m] for m in steps if m in level.broken for step in steps[m]}
        waiting = {m: own for m, own in steps.items() if m not in level.broken}
        todo = [step for own in waiting.values() for step in own]
        if todo and level.process is not None and level.process.ended is None:
            # What the process has not answered when it ends is missing.
            played = zip(todo, level.process.play(todo), strict=False)
            replies |= {step: reply for step, reply in played if reply.ended in (None, SPENT.ended)}
            if level.process.ended == Ended("memory"):
                self._make_room()
        for name, own in waiting.items():
            left = [step for step in own if step not in replies]
            if left and not self._uses(name, level.own):
                replies |= self._one_by_one(level.loaded[name], own, left)
        return replies

    def _one_by_one(self, imports: Imports, every: Sequence[Step], left: list[Step]) -> dict[Step, Reply]:
        """Steps that a process has left unanswered, in new ones: a function that ends its process again is not called any more."""
        replies: dict[Step, Reply] = {}
        dead: dict[str, Reply] = {}
        alone = Level((imports.context,))
        for step in left:
            replies[step] = dead.get(step.target.function) or self._next(alone, imports, with_needed(every, [step]))
            if replies[step].ended is not None:
                dead[step.target.function] = replies[step]
        self._close(alone)
        return replies

    def _next(self, alone: Level, imports: Imports, steps: list[Step]) -> Reply:
        """The reply to the last of some steps; the others are there for it."""
        if alone.process is None or alone.process.ended is not None:
            if self.restarts[imports.context] >= RESTARTS:
                return SPENT
            self.restarts[imports.context] += 1
            self._load(alone, imports)
        if imports.context in alone.broken or alone.process is None:
            return SPENT
        reply = alone.process.play(steps)[-1]
        if reply.ended == Ended("memory") and self._make_room():
            return self._next(alone, imports, steps)
        return reply
