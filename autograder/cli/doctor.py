"""`autograder doctor`: test each sandbox layer of this machine by attempting something it forbids.

Each layer is tested almost alone, so that no other layer causes the failure. The attempts run in a student's process
and are harmless if they succeed.
"""

import os
import tempfile
import time
from pathlib import Path

import click

from autograder.cli import probes
from autograder.exceptions import SandboxError
from autograder.grading.grader import open_grader
from autograder.homework.homework import Homework
from autograder.sandbox import layers
from autograder.sandbox.layers import landlock
from autograder.sandbox.process import Limits
from autograder.sandbox.protocol import Call, Response
from autograder.sandbox.sandbox import Sandbox

BELOW = {  # the layers that a layer requires
    "landlock": ("no_new_privileges",),
    "seccomp": ("no_new_privileges",),
    "not_dumpable": ("user",),
}
MEANS = {
    "fork": "processes are forked from a warm server instead of each starting an interpreter",
    "session": "a student's process has its own session and is killed with its whole process group",
    "limits": "memory, file size, open files and processor time are limited",
    "user": "a student's process runs as an unprivileged user",
    "no_new_privileges": "no started program can gain privileges, for example through setuid",
    "landlock": "only the interpreter, NumPy and the submission can be read; only its own folder can be written",
    "seccomp": "no sockets, no processes, no signals to other processes, no tracing, no mounts",
    "not_dumpable": "the memory of the grader and of the fork server cannot be read through /proc",
}


def diagnose() -> dict[str, tuple[str, str]]:
    """Test every sandbox layer; return "works", "missing" or "fails" with the reason.

    Raises SandboxError if not even a sandbox without layers can be set up.
    """
    missing, holding, findings = layers.available(), layers.holding(), {}
    for layer in layers.NAMES:
        if layer not in holding:
            findings[layer] = "missing", missing[layer]
            continue
        try:
            reply, started = attempt(layer, (layer, *BELOW.get(layer, ())))
        except SandboxError as error:
            findings[layer] = "fails", str(error)
            continue
        if reply.value == []:
            proof = f"a student's process starts in {started * 1000:.0f} ms" if layer == "fork" else MEANS[layer]
            findings[layer] = "works", proof + (f" (ABI {landlock.abi()})" if layer == "landlock" else "")
            continue
        outcome = f"ended too early ({reply.ended.why if reply.ended else 'no answer'})"
        if isinstance(reply.value, list):
            outcome = ", ".join(map(str, reply.value))
        elif reply.error is not None:
            outcome = f"raised {reply.error.kind}: {reply.error.text}"
        findings[layer] = "fails", f"a student's process {outcome}: please report this to the kit's maintainers"
    return findings


def attempt(layer: str, enabled: tuple[str, ...]) -> tuple[Response, float]:
    """Attempt what `layer` forbids in a process with only the `enabled` layers; also return its startup time."""
    without = tuple(name for name in layers.NAMES if name not in enabled and name != "fork")
    with Sandbox(Limits(), without=without) as sandbox, tempfile.TemporaryDirectory() as outside:
        os.chmod(outside, 0o777)
        sandbox.write({"probes.py": Path(probes.__file__).read_bytes()})
        sandbox.start().close()  # the first process waits for the fork server
        began = time.monotonic()
        with sandbox.start() as student:
            started = time.monotonic() - began
            failed = student.load(["probes"])
            if failed != Response():
                return failed, started
            return student.run([Call("probes", "possible", (layer, __file__, outside, os.getpid()))])[0], started


@click.command()
@click.pass_obj
def doctor(homework: Homework) -> None:
    """Test which sandbox layers work on this machine, and whether it can grade.

    For administrators of a machine that grades.
    """
    findings = diagnose()
    for layer, (state, why) in findings.items():
        click.echo(f"{layer:<18} {state:<8} {why}")
    lost = [layer for layer, (state, _) in findings.items() if state != "works"]
    click.echo("\nMissing on this machine:" if lost else "\nAll sandbox layers work.")
    for layer in lost:
        click.echo(f"- {MEANS[layer]} ({layer})")
    with open_grader(homework):
        click.echo("Grading works: the reference solutions get full marks in a student's process.")
