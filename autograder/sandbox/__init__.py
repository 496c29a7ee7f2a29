"""The sandbox runs code that nobody trusts, and replies whatever that code does.

    grader --- requests ---> student's process: one at a time, forked, watched and swept up by the fork server,
       <------ replies ----- which has imported NumPy and nothing secret

`Sandbox.place` writes the submission's files once, read-only. `Sandbox.start` has the fork server fork a process, which confines
itself, layer by layer (layers/), before it reads a byte of the submission. `StudentProcess.load` imports modules in it, beside
reference implementations of the modules that these depend on. `StudentProcess.run` sends calls in one message and returns
a `Response` for each: plain data, and nothing is unpickled. No expected value is ever here.

A call has a deadline in processor time (budget.py), and a wall clock far beyond it. When its time is up, the process gets SIGINT
and says the line of the loop that it is in, if it can; then the fork server kills it with everything that it has left behind.
docs/explanation/processes.md follows a call all the way, docs/explanation/threat-model.md says what is promised.
"""
