"""Runs untrusted code and always returns a response.

    grader --- requests ----> student's process: one at a time; the fork server starts, watches and removes it, and has
       <----- responses ----- imported NumPy and nothing secret

`Sandbox.write` writes the submission's files once, read-only. `Sandbox.start` asks the fork server for a process, which
confines itself, layer by layer (layers/), before it reads a byte of the submission. `StudentProcess.load` imports modules in
it, together with reference implementations of their dependencies. `StudentProcess.run` sends calls in one message and returns
a `Response` for each: plain data, never unpickled. Expected values are never here.

A call has a deadline in processor time (process.py), and a wall-clock limit far beyond it. At the deadline the process gets
SIGINT and reports the line of the running loop, if it can; then the fork server kills it and removes everything it left behind.
docs/explanation/processes.md follows a call, docs/explanation/threat-model.md lists the guarantees.
"""
