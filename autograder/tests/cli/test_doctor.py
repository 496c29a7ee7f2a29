"""`autograder doctor` reports which layers work on this machine, and its probes notice if one does not."""

import pytest
from click.testing import CliRunner

from autograder.cli import doctor, probes
from autograder.sandbox import layers
from autograder.sandbox.layers import kernel
from autograder.sandbox.messages import Response


@pytest.mark.slow
def test_every_layer_works_or_is_missing_with_advice() -> None:
    found = doctor.diagnose()
    assert list(found) == list(layers.NAMES)
    for layer, (state, why) in found.items():
        assert state == ("works" if layer in layers.holding() else "missing"), layer
        assert len(why) > 20


def test_every_layer_has_a_probe_and_an_explanation() -> None:
    assert list(doctor.MEANS) == list(layers.NAMES)
    assert list(probes.attempts("", "", 0)) == list(layers.NAMES)


@pytest.mark.skipif(not kernel.LINUX, reason="needs Linux")
@pytest.mark.parametrize(
    ("layer", "possible"),
    [("landlock", "read the kit"), ("landlock", "wrote outside its folder"), ("seccomp", "opened a socket"),
     ("seccomp", "started a process"), ("limits", "opened 10,000 files")],
)  # fmt: skip
def test_without_the_layer_its_probe_succeeds(layer: str, possible: str) -> None:
    if layer not in layers.holding():
        pytest.skip(f"no {layer} here")
    reply, _ = doctor.attempt(layer, ())
    assert possible in reply.value


def test_a_layer_that_does_not_work_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "attempt", lambda *_: (Response(value=["opened a socket"]), 0.0))
    assert all(state == "fails" for layer, (state, _) in doctor.diagnose().items() if layer in layers.holding())
    assert "opened a socket" in doctor._tested("seccomp")[1]


def test_the_command_succeeds_and_reports_missing_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = dict.fromkeys(layers.NAMES, "") | {"landlock": "the kernel has no Landlock"}
    monkeypatch.setattr(layers, "available", lambda: reason)
    monkeypatch.setattr(doctor, "attempt", lambda *_: (Response(value=[]), 0.003))
    done = CliRunner().invoke(doctor.doctor)
    assert done.exit_code == 0
    assert "landlock           missing  the kernel has no Landlock" in done.output
    assert "in 3 ms" in done.output
    assert "- only the interpreter, NumPy and the submission can be read" in done.output
