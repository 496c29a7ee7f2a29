"""The numbers that decide a grade or a word of the diagnosis: what each decides, and how it was found.

"By count": from the present catalogue. "By audit": no verdict of `autograder audit` may change for the worse. "By judgement":
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
# Wrong calls by which the best pair must explain more than the best misconception alone, or triples are not tried; the same for
# sets of four. On 191 wrong modules it changes no verdict and no name.
LEAST_GAIN = 0.1
TELLING = 6  # wrong calls by which sets are compared; by audit with --pairs
MOST_COMBINATIONS = 700  # sets of two and more misconceptions tried for one function; by audit with --pairs
MOST_VERSIONS = 4000  # tried for one submission besides single mistakes; 280 modules needed at most 2400 each
# Of a submission's processor time, charged for each of these versions; 0.4 to 0.7 ms where 500 and more were tried.
VERSION_SECONDS = 0.001
STEPS_OF_A_VERSION = 10  # that take as long, where a version is played on all of them: 0.04 to 0.17 ms each
MOST_RIVALS = 8  # sets of a helper's mistakes that do the same there, tried in the functions built on it; by judgement
SAME_REPLY = 1e-12  # share of a wrong value by which another one may differ and be the same; sums of another order differ by 1e-15
SAME_ROUNDING = 100.0  # ratio of two errors of rounding, up to which they are of one kind; by judgement
NOT_ROUNDED = 0.1  # share of the tolerance up to which a known error of rounding counts as none in a call; by judgement
RUIN = 0.05  # share of the largest value above which an error of rounding leaves nothing to compare; by judgement
# Distance from a spoilt value, as a share of its own error, up to which a value is wrong alike; by judgement.
JUST_AS_WRONG = 0.1

# Of edits of a student's text (repair.py). `MOST_EDITS` and `LARGEST` in edits.py: edits of one function that are
# tried, and nodes that one exchanges; of 15 doubles in one function that one edit made right, 9 needed a larger one. `MOST_PLACES`
# and `MOST_CONSTANTS` there: places of one edit, and numbers or words tried at one; by judgement.
FIRST_CALLS = 4  # wrong calls that an edit must make right before it is played on all; by judgement
# Calls with the wrong reply of a known mistake that is told as one of several, or by errors in other words; chosen on 280 modules.
LEAST_EVIDENCE = 3
MOST_EVIDENT = 2  # known mistakes that an edit is sought beside, of one function; by judgement
MOST_FUNCTIONS = 4  # of one submission that are searched; by judgement
# Edits of one size that are played on every call of the function; where more pass the first calls, no line is told.
MOST_SURVIVORS = 60  # by judgement
MOST_ENDLESS = 5  # edits that do not end, after which a search does; by judgement
MOST_SPENT = 0.5  # share of a submission's processor time after which no search goes on; by judgement

# What only chooses words, or the example that is shown.
# `NEARLY`, `UNEXPLAINED`, `MANY`, `SEVERAL` in values/differences.py: "nearly right", "every entry", how many are named, how many
# share an amount by more than chance, and `MOST_DIGITS`, the decimals that a rounded result may have kept; by judgement.
# `DIGITS` in values/display.py: digits tried until two values look different. `DIGITS` in release/handout.py: the digits kept, for
# the checks at home, of what a known mistake gives.

MOST_MOVES = 120  # entries that are moved in one public example, one at a time; by judgement
# The same for a module that uses others; by judgement.
MOST_MOVES_ASKING = 40
MOST_ENTRIES = 24  # entries of an argument up to which they are moved one at a time; by judgement
MOST_TRIED = 3  # functions of a module that trials are made for; by judgement
# Share of a submission's processor time after which no more are made; only slow code comes near it.
MOST_TRIALS_SPENT = 0.03
TIMES = 5  # that a wrong public example is called, to see whether its result is always the same; by judgement
MOVES, RESTS = 1e-5, 1e-9  # deviation from which on a result has moved, and up to which it has not; by judgement
ELSEWHERE, PLAYED = 6, 3  # sets of other numbers, and those that are played too where a result rests; by judgement
EVERY = 12  # of so many trials one is held against what is said of all, and each of the first; by judgement
MOST_SAID = 2  # sentences about what a result depends on; by judgement
FEW = 3  # rows, columns or entries that are named; by judgement
MOST_CHANGES = 2  # things of which each, if another, makes a result right, that are named; by judgement
MOST_ARGUMENTS = 300  # other arguments tried for one public example; by judgement
MOST_LINES = 2  # lines of the smallest edits that make a function right, beyond which none is told; by judgement
