"""The numbers that decide a grade or a word of the diagnosis: what each decides, and how it was chosen.

"By count": from the present library. "By audit": no verdict of `autograder audit` may get worse. "By judgement": not measured.
Numbers of code that cannot import this file are listed here. Sizes that only shape a probe, a text or a message on the wire are
where they are used.
"""

# Scores.
# `TOLERANCE` in values/compare.py: the deviation up to which a value is right; by `autograder audit --tolerances`.
# `ROUNDING` in values/changes.py: a change of an argument, in units in the last place, that does not count; by judgement.
# `TOLERANCE` in solutions/checks/student_calls.py: the same in the public checks, which give no points.
# `PRINTED` in homework/suite.py: the tolerance of worked examples, which show four decimals.

LEAST_OF_FORM = 1 / 2  # share of a criterion's functions that must be right in value; by judgement
# The limits of a call or a submission are in rubric.yaml and sandbox/budget.py, with `ENDLESS_SHARE`, the share of a call's time
# that a function keeps after an endless call.
RESTARTS = 20  # new processes for one module because another one ended; by judgement

MOST_TOGETHER = 4  # misconceptions of one function that are combined; by judgement
BEST = (
    5  # misconceptions combined with one more each, half as many pairs, a third as many triples; by audit with --pairs
)
TELLING = 6  # failing calls that rank the sets; by audit with --pairs
MOST_COMBINATIONS = 700  # sets of two and more misconceptions tried for one function; by audit with --pairs
SAME = 1e-9  # relative difference of equal values: sums in another order differ by 1e-15
# Ratio of two rounding errors up to which they have one cause; of two wrong values, beyond which they have not.
SAME_ROUNDING = 100.0

# Single-edit repair (repair.py). `MOST_EDITS` and `LARGEST` in edits.py: edits tried for one function, and nodes that one
# replaces; of 15 double mistakes in one function that one edit fixed, 9 needed a larger one. `MOST_PLACES` and `MOST_CONSTANTS`
# there: places of one edit, and constants tried at one; by judgement.
FIRST_CALLS = 4  # failing calls that an edit must fix before it runs on all; by judgement
# Failing calls that a misconception must reproduce to be named next to an unknown mistake, or by errors with other texts; chosen
# on 280 modules.
LEAST_EVIDENCE = 3
MOST_SURVIVORS = (
    20  # edits of one size that run on every call; if more pass the first calls, no line is shown; by judgement
)
MOST_ENDLESS = 5  # edits that do not end, after which a search stops; by judgement
MOST_SPENT = 0.5  # share of a submission's processor time after which no search continues; by judgement

# Words and examples only.
# `NEARLY`, `UNEXPLAINED`, `MANY`, `SEVERAL` in values/differences.py: "nearly right", "every entry", how many are named, how many
# share an amount by more than chance, and `MOST_DIGITS`, the decimals that a rounded result may have; by judgement.
# `DIGITS` in values/display.py: digits tried until two values look different. `DIGITS` in release/handout.py: the digits of a
# misconception's results that the public checks contain.

MOST_MOVES = 120  # entries moved in one public example, one at a time; by judgement
MOST_ENTRIES = 24  # size up to which an argument is moved one entry at a time; by judgement
MOST_TRIALS_SPENT = 0.03  # share of a submission's processor time for probes; only slow code comes close
TIMES = 5  # repetitions that show a varying result; by judgement
MOVES = 1e-5  # deviation above which a result has moved; by judgement
ELSEWHERE = 6  # sets of other numbers with which a move is repeated; by judgement
FEW = 2  # rows, lines, changes or sentences that a message lists; by judgement
