"""Grading: a Submission goes in, a Result comes out.

This page follows one submission through the package. Its layer norm divides the variance by d - 1 and adds eps outside
the root:

    std = np.sqrt((centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))
    return gamma * centred / (std + eps) + beta

Its `layer_norm_backward` is correct, but calls this `layer_norm`.

1. Record (plan.py, recorder.py). When the grader starts, each hidden test runs once, on the reference. Every
   `check.f(...)` becomes a TestCall: function, arguments, expected value, tolerance. No test runs again.
2. Run (runner.py). The public calls run first, in a process that imports all files of the submission. The hidden calls
   run in one process per module. No process that shows a value has seen a hidden input.
3. Compare (comparison.py, values/compare.py). A TestCall and its Response make a CallResult, with a Failure unless the
   response is the expected one. Here most results of both functions fail; nine of ten criteria have a failing call.
4. Diagnose (diagnosis.py, search.py, known_responses.py). For each function with a failing call, the search looks for the
   fewest misconceptions that reproduce every response, the passing ones included. A misconception is an edit of correct
   code, so it can run on the same test calls.
     - No single misconception reproduces all responses of `layer_norm`. `sample_variance` is the closest: where the
       variance is large, the position of eps hardly matters.
     - The best candidates are combined with one more misconception each. `sample_variance` and `eps_outside_root`
       together reproduce everything.
5. Score (scoring.py). `sample_variance` costs the criterion `statistics`, `eps_outside_root` costs `epsilon`. `affine` and
   `stability` have failing calls too, but the two misconceptions explain them, so they are earned. `example` is lost with
   any failing call.
6. Retry (grader.py). `layer_norm_backward` has failing calls and a wrong helper. It runs again with the reference
   `layer_norm` in place of the student's, and every call passes: both gradient criteria are earned, and so are `purity`
   and `dtype`. The submission loses 6 of 20 points: one criterion per mistake, and `example`.
7. Show an example (grader.py). A lost criterion comes with a failing public call from step 2, so it shows nothing hidden.

Another submission has `(g + n)` instead of `(g * n)` in `layer_norm_backward`. No combination of misconceptions reproduces
that.

8. Repair (repair.py, edits.py, edit_runner.py). The function's own source is edited, smallest edits first: `+` becomes `-`,
   `*` or `/`; a name becomes another name of the source. Each edit runs in the sandbox on a few failing calls. An edit that
   fixes them runs on every call, in a new process. `*` passes them all, so this is one mistake, on this line: it costs
   `backward_x`, the first criterion of value with a failing call, and `example`. The student sees the line, never the edit.
9. Probe (probes.py). Before the first hidden call, one failing public call of each unexplained function runs again with one
   argument changed at a time. The message says only what these runs showed ("does not depend on `x`").

If there is neither a misconception nor a repair, every criterion with a failing call is lost.
"""
