"""The sandbox: runs code that nobody trusts, and replies whatever it does. Theory of operation.

Three kinds of processes work for one submission:

    grader --- requests ---> student's process         one for each level of modules, others for replays
       |                        |        ^             its replies go to the grader itself if it has nothing to ask for
       |                questions,       | forks, watches, sweeps up
       |                   replies       |
       |                        |   fork server         has imported NumPy, and nothing secret
       |                        v
       '------ replies ----- answering process         holds the references; new for each submission that asks, forked from
                                                       a process that the grader has forked once

From a call to its reply:

1. `Sandbox.place` writes the submission's files once, read-only, ends every process of the submission before, and opens a new
   Budget.
2. `Sandbox.start` asks the fork server for a process. The child confines itself, layer by layer (layers/), before it has read a
   byte of the submission, and says that it is confined. A child that cannot do so is a fault of the machine.
3. `StudentProcess.load` sends the names of modules. The student's side (student/) imports them; in the place of other modules
   of the homework stand functions that ask.
4. `StudentProcess.play` sends all calls in one message. The student's process works through them and sends back data: numbers,
   arrays, text, tuples, lists, dictionaries. Nothing is unpickled.
5. Of a process that was given something to ask for, the answering process reads until each call has its reply. Replies it passes
   on as they are; a question it answers itself, if the present call may ask it (conversation.py).
6. Replies become `Reply` objects (messages.py). Whether they are right is decided elsewhere: no expected value is ever here.
7. Between two messages a process is stopped, so that it does nothing while another one has its turn.

When something goes on too long:

1. Each call has a deadline in processor time (budget.py), longer by a little for each question that it asks, and a wall clock
   far beyond it. The grader looks at it while it waits for the reply.
2. When it is over, the process gets SIGINT. Its handler replies with the line of the loop that it is in, and the grader waits a
   third of a second for that (process.py). Code that does not let Python handle signals, such as one long call of NumPy, says
   no line.
3. Then the process is ended: `Reply.ended` has the reason "deadline" and that line. The fork server kills it with everything that
   it has left behind. A process that holds too much memory, disk or threads is killed by the fork server itself, which says why.
4. What it had not answered is played in a new process (grading/player.py); a function that ends this one too is not called
   again. A function that was interrupted in a loop has a tenth of the time from then on.
5. The student reads the sentence for "deadline" in `ENDED` of feedback/sentences.py, with the line.
"""
