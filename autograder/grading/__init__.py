"""Grading: a Submission goes in, a Result comes out. Theory of operation.

One submission, followed through. Its layer norm divides the variance by d - 1, and adds eps outside the root:

    std = np.sqrt((centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))
    return gamma * centred / (std + eps) + beta

Its `layer_norm_backward`, right in itself, calls its `layer_norm`.

1. The script (script.py, recorder.py). When the grader starts, each hidden test runs once, on the reference, and every
   `check.f(...)` in it becomes a Step: the call, what must come back, and how near. No test runs again.
2. Running (runner.py). The public steps run in a first process with all of the student's files, the hidden ones in a process for
   the module alone. Every public step comes first: what is shown is complete before any process has seen a hidden input.
3. Judging (judge.py, values/compare.py). A step and its reply make a Record, with a Fault if the reply is not the expected one.
   Here most records of `layer_norm` and of `layer_norm_backward` have one; nine of ten criteria have a wrong call.
4. The search (diagnosis.py, search.py, played.py). For each function with a wrong record, the fewest known mistakes are looked
   for that give exactly the replies that came, the right ones included. A known mistake is an edit of a correct text, so it can
   be played on the same steps, and its replies compared with the student's.
     - No single mistake of `layer_norm` reproduces all records. `sample_variance` comes nearest: where the variance is large,
       it hardly matters where eps stands.
     - The mistakes that explain the most are tried with one more each. `sample_variance` and `eps_outside_root` together
       reproduce all: they are the Candidate that is chosen, and it is complete.
5. Charging (charge.py). `sample_variance` belongs to the criterion `statistics`, `eps_outside_root` to `epsilon`: these are
   lost. `affine` and `stability` have wrong calls too, but the pair reproduces them, and each known mistake of theirs would
   still show beside the pair: they are earned. `example` goes by value alone, and is lost.
6. The replay (grader.py). `layer_norm_backward` has wrong calls, and a helper that is wrong. It is played once more, with a
   correct `layer_norm` in the place of the student's, and everything is right: both criteria of the gradients are earned, and
   so are `purity` and `dtype`. The submission loses 6 points of 20, one criterion for each mistake and `example`.
7. Examples (grader.py). With a lost criterion goes a public call that is wrong. It was made in step 2, so it holds nothing
   hidden.

Another submission has `(g + n)` for `(g * n)` in `layer_norm_backward`. No known mistake reproduces that, alone or in pairs.

8. The repair (repair.py, edits.py, edit_runner.py). The function's own text is edited, the smallest edits first: `+` becomes
   `-`, `*`, `/`; a name becomes another name of the text. Each edited text is played in the sandbox on a few wrong calls; one
   that is right there is played on every call, in a new process. `*` is right in all. So there is one mistake, in this line: it
   costs `backward_x`, the first criterion of value with a wrong call, and `example`; the student is told the line, never the edit.
   Other functions of the module are edited in that line first: what they share is one mistake, and costs no more.
9. Trials (experiments.py). Before the first hidden call, one wrong public call of each function that nothing explains is made
   again with one thing changed at a time. What is said of it ("does not depend on `x`") was seen so.

Where neither a known mistake nor a repair is found, each criterion with a wrong call is lost.
"""
