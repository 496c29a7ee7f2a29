"""The numbers that affect a grade or the wording of a diagnosis, with their meaning and origin.

"By audit": no verdict of `autograder audit` may get worse. The others are by judgement. Sizes that only shape a probe,
a text or a message on the wire are defined where they are used. So are the numbers of code that cannot import this
file: `TOLERANCE` in shared/compare.py (by `autograder audit tolerances`) and in solutions/checks/student_calls.py,
`ROUNDING` in shared/changes.py, `PRINTED` in homework/suite.py, `ENDLESS_SHARE` in sandbox/process.py, the limits of
edits in shared/edits.py, and those of "nearly right" and "every entry" in shared/differences.py.
"""

# Scores.
LEAST_OF_FORM = 1 / 2  # share of a criterion's functions that must be correct in value
RESTARTS = 20  # new processes for one module because another one ended
MOST_TOGETHER = 4  # most misconceptions of one function to combine
# Sets combined with one more misconception; half as many pairs, a third as many triples. By `audit pairs`.
BEST = 5
TELLING = 6  # failing calls that rank the sets, and that an edit must fix before it runs on all; by `audit pairs`
MOST_COMBINATIONS = 700  # sets of two and more misconceptions tried for one function; by `audit pairs`
SAME = 1e-9  # relative difference of equal values; sums in another order differ by 1e-15
SAME_ROUNDING = 100.0  # largest ratio of two rounding errors, or of two wrong values, with one cause
# Failing calls that a misconception must reproduce to be named next to an unknown mistake, or if its errors have different
# texts; chosen on 280 modules.
LEAST_EVIDENCE = 3
MOST_SURVIVORS = 20  # edits of one size that run on every call; if more pass the first calls, no line is shown
MOST_ENDLESS = 5  # endless edits after which a search stops
MOST_SPENT = 0.5  # share of a submission's processor time after which searches stop

# Words and examples only.
MOST_PROBES_SPENT = 0.03  # share of a submission's processor time for probes; only slow code comes close
TIMES = 20  # repetitions that show a varying result
MOVES = 1e-5  # deviation above which a result has moved
FEW = 2  # rows, lines, changes or sentences that a message lists
