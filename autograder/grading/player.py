"""One submission's processes, and what is played in them when. The rules of order:

1. A module and one that may ask for its functions are never in one process: there is a process for each level of `uses` in
   the rubric. The integration, which asks nobody, is in the lowest.
2. Every import and every call whose result may be shown is made and answered before the first hidden call of the submission.
   So nothing that is shown can carry a hidden input, by whatever channel. Only the integration, of whose criteria all are
   hidden, is imported later, and says no more than hidden criteria do.
3. Hidden calls are played from the lowest level up. Once a level has had one, no process of a lower level is started or
   called: who may ask for a function learns of its hidden inputs only when its verdict stands.
4. A verdict comes from one run. When a process ends, the steps that it has not answered, and only those, are played in a new
   process for each module; what that second import says is never shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from autograder.grading.record import Step
from autograder.grading.script import Script
from autograder.homework import reference as references
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Ended, Error, Reply
from autograder.sandbox.process import StudentProcess
from autograder.sandbox.sandbox import Sandbox

RESTARTS = 40  # processes of one submission that are started because another one ended
Pairs = Sequence[tuple[bytes, bytes]]  # questions of a student's process and their answers, encoded
# What every right submission asks, by the height of the level and whether hidden calls are played.
Known = Mapping[tuple[int, bool], Pairs]
MISSING = Reply(error=Error(("ModuleNotFoundError",), "", "", 0, "missing"))
GONE = Reply(ended=Ended("spent"))


@dataclass(eq=False)
class Level:
    """The modules of one level, in their process. `broken` says of a module why it could not be imported.

    Levels that the player keeps may be shown; others are for a few calls, and what their imports say stays in them.
    """

    modules: tuple[str, ...]
    height: int = 0
    loaded: tuple[str, ...] = ()
    process: StudentProcess | None = None
    broken: dict[str, Reply] = field(default_factory=dict)
    asked: bool = False  # its hidden calls have had their turn


class Player:
    """The processes of one submission; replies are by step."""

    def __init__(self, sandbox: Sandbox, script: Script, submission: Submission, known: Known):
        self.sandbox, self.script, self.submission, self.known = sandbox, script, submission, known
        self.rubric = script.rubric
        self.levels: list[Level] = []
        self.restarts = 0
        self.asked: dict[tuple[int, bool], list[tuple[bytes, bytes]]] = {}  # what this submission has asked
        sandbox.place(submission.files)

    def shown(self, modules: Iterable[str]) -> dict[Step, Reply]:
        """Import the modules and play what may be shown of them, before any hidden call."""
        replies: dict[Step, Reply] = {}
        self.levels = self._levels(modules)
        for level in self.levels:  # which may become more on the way: see _load
            for module in level.modules:
                if module != INTEGRATION or self.script.visible.get(INTEGRATION):
                    self._load(level, module)
            steps = {m: self.script.shown(m) for m in level.modules}
            replies |= self._play(level, steps, hidden=False)
        return replies

    def alone(self, step: Step) -> Reply:
        """A step that may be shown, once more, in a process that has seen nothing else. Only before the first hidden call."""
        assert not self._frozen, "a shown call after a hidden one"
        level = Level((step.target.module,))
        self._load(level, step.target.module)
        broken = level.broken.get(step.target.module)
        reply = broken or (level.process.play([step.call])[-1] if level.process is not None else GONE)
        self._close(level)
        return reply

    def hidden(self, number: int) -> dict[Step, Reply]:
        """Play the hidden steps of a level. Levels come from the lowest up."""
        level, above = self.levels[number], self.levels[number + 1 :]
        assert not any(other.asked for other in above), "a lower level after a higher one"
        for other in self.levels[:number]:
            self._close(other)
        level.asked = True
        steps = {m: self.script.hidden.get(m, ()) for m in level.modules}
        late = {INTEGRATION: steps.pop(INTEGRATION)} if INTEGRATION in steps else {}
        replies = self._play(level, steps, hidden=True)
        if late:
            replies |= self._integrated(level, late)
        return replies

    def _integrated(self, level: Level, steps: dict[str, tuple[Step, ...]]) -> dict[Step, Reply]:
        """Play the hidden steps of the integration in the process of its level.

        Mostly it is imported only now: what the modules above do at import could change how those of this level work.
        """
        if INTEGRATION in (*level.loaded, *level.broken):
            return self._play(level, steps, hidden=True)
        late = Level((INTEGRATION,), level.height, process=level.process)
        self._load(late, INTEGRATION)
        failed = late.broken.get(INTEGRATION)
        if failed is not None and failed.ended is not None and late.process is level.process:
            late.broken.clear()  # as in `_load`: perhaps the process was only too small for all
            self._load(late, INTEGRATION)
        replies = self._play(late, steps, hidden=True)
        self._close(late)
        level.broken |= late.broken
        return replies

    def with_helpers(
        self, number: int, module: str, helpers: tuple[str, ...], steps: Sequence[Step]
    ) -> dict[Step, Reply]:
        """Play steps of a module once more, with some of its own functions answered by the reference.

        Only while its level has its turn: later levels may not have been asked yet.
        """
        assert not any(level.asked for level in self.levels[number + 1 :]), "a lower level after a higher one"
        level = Level((module,))
        self._load(level, module, helpers)
        replies = self._batch(level, [] if module in level.broken else steps)
        self._close(level)
        return {step: replies.get(step, GONE) for step in steps}

    def broken(self, module: str) -> Reply | None:
        """Why a module could not be imported, None if it could."""
        return next((level.broken[module] for level in self.levels if module in level.broken), None)

    @property
    def _frozen(self) -> bool:
        """Whether a hidden call may have been made, so that nothing more may be shown."""
        return any(level.asked for level in self.levels)

    def close(self) -> None:
        for level in self.levels:
            self._close(level)

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    # levels

    def _levels(self, modules: Iterable[str]) -> list[Level]:
        wanted = tuple(modules)
        heights = {m: 0 if m == INTEGRATION else self.rubric.level(m) for m in wanted}
        return [Level(tuple(m for m in wanted if heights[m] == h), h) for h in sorted(set(heights.values()))]

    def _load(self, level: Level, module: str, helpers: tuple[str, ...] = ()) -> None:
        """Import a module into its level's process, which is started if there is none.

        One that ends a process in which others are imported already is given a level of its own, of the same height: perhaps
        the process was only too small for all.
        """
        assert level not in self.levels or not self._frozen, "an import that may be shown after a hidden call"
        names = self.script.integrated if module == INTEGRATION else (module,)
        if any(f"{name}.py" not in self.submission.files for name in names):
            level.broken[module] = MISSING
            return
        if level.process is None or level.process.ended is not None:
            self._restart(level, module)
        assert level.process is not None
        neighbours = {} if module == INTEGRATION else self.rubric.neighbours(module)
        reply = level.process.load(module, names, references.signatures(neighbours), helpers)
        if reply.ended is not None and level.loaded and level in self.levels:
            level.modules = tuple(other for other in level.modules if other != module)
            self.levels.insert(self.levels.index(level) + 1, Level((module,), level.height))
        elif reply.error is not None or reply.ended is not None:
            level.broken[module] = reply
        else:
            level.loaded = (*level.loaded, module)

    def _restart(self, level: Level, module: str) -> None:
        """A new process in place of one that has ended, with the modules that were imported in it before `module`."""
        self._close(level)
        others = tuple(other for other in level.loaded if other != module)
        level.process, level.loaded = self.sandbox.start(), ()
        for other in others:
            self._load(level, other)

    def _close(self, level: Level) -> None:
        if level.process is not None:
            level.process.close()
            level.process = None

    # playing

    def _play(self, level: Level, steps: dict[str, tuple[Step, ...]], hidden: bool) -> dict[Step, Reply]:
        """Replies to all steps of a level: those of a module that cannot be imported say why."""
        replies = {step: level.broken[m] for m in steps if m in level.broken for step in steps[m]}
        waiting = {m: list(steps[m]) for m in steps if m not in level.broken}
        before = len(level.process.asked) if level.process is not None else 0
        known = self.known.get((level.height, hidden), ())
        replies |= self._batch(level, [step for m in waiting for step in waiting[m]], known)
        if level.process is not None:
            self.asked.setdefault((level.height, hidden), []).extend(level.process.asked[before:])
        for module, todo in waiting.items():
            replies |= self._one_by_one(level, module, [step for step in todo if step not in replies])
        return replies

    def _batch(self, level: Level, steps: Sequence[Step], known: Pairs = ()) -> dict[Step, Reply]:
        """Play steps with one message; what the process had not answered when it ended is missing."""
        if not steps or level.process is None or level.process.ended is not None:
            return {}
        replies = level.process.play([step.call for step in steps], known)
        return {step: reply for step, reply in zip(steps, replies, strict=False) if reply.ended is None}

    def _one_by_one(self, level: Level, module: str, steps: list[Step]) -> dict[Step, Reply]:
        """Steps that a process has left unanswered, in new ones: a function that ends its process again is not called any more."""
        replies: dict[Step, Reply] = {}
        dead: dict[str, Reply] = {}
        alone = Level((module,))
        for step in steps:
            replies[step] = dead.get(step.target.function) or self._next(alone, module, step)
            if replies[step].ended is not None:
                dead[step.target.function] = replies[step]
        self._close(alone)
        return replies

    def _next(self, alone: Level, module: str, step: Step) -> Reply:
        if alone.process is None or alone.process.ended is not None:
            if self.restarts >= RESTARTS:
                return GONE
            self.restarts += 1
            self._load(alone, module)
        if module in alone.broken or alone.process is None:
            return GONE
        needed = self._needed(module, step)
        return alone.process.play([*(one.call for one in needed), step.call])[-1]

    def _needed(self, module: str, step: Step) -> list[Step]:
        """The steps of the same test that this one builds on, which a new process has not seen."""
        if not step.needs:
            return []
        everything = (*self.script.shown(module), *self.script.hidden.get(module, ()))
        return [
            one
            for one in everything
            if (one.test, one.criterion) == (step.test, step.criterion) and one.number < step.number
        ]
