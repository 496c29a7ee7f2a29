"""The numbers that decide a grade or a word of the diagnosis: what each decides, and how it was found.

"By count": from the present library. "By audit": no verdict of `autograder audit` may change for the worse. "By judgement":
nothing was measured. Numbers of code that cannot import this file are named here and stand there. Sizes that only shape a
trial, a text or a message on the wire stand where they are used.
"""

# What grades.
# `TOLERANCE` in values/compare.py: the deviation up to which a value is right; by `autograder audit --tolerances`.
# `ROUNDING` in values/changes.py: the change of an argument, in units in the last place, that is none; by judgement.
# `TOLERANCE` in solutions/checks/student_calls.py: the same in the checks at home, which give no points.
# `PRINTED` in homework/suite.py: the deviation allowed to worked examples; what four printed decimals cannot show.

LEAST_OF_FORM = 1 / 2  # share of a criterion's functions that must be right in value before it is earned; by judgement
# What ends a call or a submission stands in rubric.yaml and sandbox/budget.py, with `ENDLESS_SHARE`, the share of a call's time
# that a function has after it was endless.
RESTARTS = 20  # processes that are started for one module because another one ended; by judgement

MOST_TOGETHER = 4  # misconceptions of one function that are combined; by judgement
BEST = 5  # misconceptions that are tried with one more each, half as many pairs, a third as many triples; by audit with --pairs
TELLING = 6  # wrong calls by which sets are compared; by audit with --pairs
MOST_COMBINATIONS = 700  # sets of two and more misconceptions tried for one function; by audit with --pairs
SAME = 1e-9  # share of a value by which another one may differ and be the same: sums in another order differ by 1e-15
SAME_ROUNDING = (
    100.0  # ratio of two errors of rounding up to which they are of one kind; of two wrong values, beyond which not
)

# Of edits of a student's text (repair.py). `MOST_EDITS` and `LARGEST` in edits.py: edits of one function that are
# tried, and nodes that one exchanges; of 15 doubles in one function that one edit made right, 9 needed a larger one. `MOST_PLACES`
# and `MOST_CONSTANTS` there: places of one edit, and numbers or words tried at one; by judgement.
FIRST_CALLS = 4  # wrong calls that an edit must make right before it is played on all; by judgement
# Calls with the wrong reply of a known mistake that is told as one of several, or by errors in other words; chosen on 280 modules.
LEAST_EVIDENCE = 3
# Edits of one size that are played on every call of the function; where more pass the first calls, no line is told.
MOST_SURVIVORS = 20  # by judgement
MOST_ENDLESS = 5  # edits that do not end, after which a search does; by judgement
MOST_SPENT = 0.5  # share of a submission's processor time after which no search goes on; by judgement

# What only chooses words, or the example that is shown.
# `NEARLY`, `UNEXPLAINED`, `MANY`, `SEVERAL` in values/differences.py: "nearly right", "every entry", how many are named, how many
# share an amount by more than chance, and `MOST_DIGITS`, the decimals that a rounded result may have kept; by judgement.
# `DIGITS` in values/display.py: digits tried until two values look different. `DIGITS` in release/handout.py: the digits kept, for
# the checks at home, of what a known mistake gives.

MOST_MOVES = 120  # entries that are moved in one public example, one at a time; by judgement
MOST_ENTRIES = 24  # entries of an argument up to which they are moved one at a time; by judgement
# Share of a submission's processor time after which no more are made; only slow code comes near it.
MOST_TRIALS_SPENT = 0.03
TIMES = 5  # that a wrong public example is called, to see whether its result is always the same; by judgement
MOVES = 1e-5  # deviation from which on a result has moved; by judgement
ELSEWHERE = 6  # sets of other numbers among which a move is tried; by judgement
FEW = 2  # rows, lines, changes or sentences that are told; more are none; by judgement
