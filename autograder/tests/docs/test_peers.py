"""The comparison with other courses runs the tests in their clones on our code. The clones here are made up."""

import json
from pathlib import Path

import pytest

from autograder.benchmarks import peers
from autograder.tests.files import HOMEWORK, put

SHAPE = """
def test_norm():
    assert LayerNorm(4)(Tensor(np.ones((2, 4)))).shape == (2, 4)
"""
METHOD = """
from tinytorch.core.tensor import Tensor

class TestBlock:
    def test_mean(self):
        from tinytorch.nn import TransformerBlock
        assert TransformerBlock(embed_dim=8, num_heads=2)(Tensor(np.ones((1, 3, 8)))).shape == (1, 3, 8)

    def test_gradient(self):
        assert Tensor(np.ones(3)).backward()
"""
CASES = {
    23: ("print(softmax([1, 2, 3]))", "[0.09, 0.2447, 0.6652]"),
    53: ("print(self_attention(*np.eye(2)[None].repeat(3, 0)))", "[[0.67, 0.33], [0.33, 0.67]]"),
    85: ("print(pos_encoding(1, 2))", "[[0. 1.]]"),
    94: ("print(multi_head_attention(*np.ones((3, 2, 4)), 2))", "[[1 1 1 1] [1 1 1 1]]"),
    107: ("print(masked_attention(*np.ones((3, 1, 4)), np.zeros((1, 1))))", "[[1. 1. 1. 1.]]"),
    109: ("print(layer_normalization(np.array([[[1., 3]]]), np.ones((1, 1, 2)), np.zeros((1, 1, 2))))", "[[[-1. 1.]]]"),
}


@pytest.fixture
def clones(tmp_path: Path) -> tuple[peers.Peer, peers.Peer]:
    texts = dict.fromkeys(peers.INLINE, SHAPE) | dict.fromkeys(peers.SUITES, METHOD)
    for question, (snippet, expected) in CASES.items():
        texts[f"questions/{question}_x/tests.json"] = json.dumps([{"test": snippet, "expected_output": expected}])
    put(tmp_path, texts)
    return peers.tinytorch(tmp_path), peers.deep_ml(tmp_path)


def code(id: str = "") -> peers.Code:
    """The reference solutions, with a misconception if there is an id."""
    mistake = HOMEWORK.misconception(id)
    assert mistake is not None or not id
    return peers.code_of(peers.with_mistake(mistake) if mistake else HOMEWORK.files)


def test_tests_from_clones_run_on_our_code(clones: tuple[peers.Peer, peers.Peer]) -> None:
    right, no_keepdims = code(), code("layer_norm.sum_of_squares")
    first, second = ([*peer.tests] for peer in clones)
    assert [name for name in first if name not in peers.passed(clones[0], first, right)] == [
        f"{path}: test_gradient" for path in peers.SUITES
    ]
    assert peers.passed(clones[1], second, right) == second
    assert [name for name in second if name not in peers.passed(clones[1], second, no_keepdims)] == ["109_x 1"]
    assert peers.passed(clones[1], second, peers.code_of(peers.trivial_files(""))) == []


@pytest.mark.parametrize(("id", "both"), [
    ("layer_norm.sum_of_squares", [True, True]),
    ("layer_norm.float64_result", [False, False]),  # float32 arguments never pass through these signatures
    ("feed_forward.no_relu", [True, False]),
])  # fmt: skip
def test_misconception_counts_if_it_changes_a_result(clones: tuple[peers.Peer, ...], id: str, both: list[bool]) -> None:
    right = code().functions
    assert [peers.shows(peer, peer.probe(right), code(id)) for peer in clones] == both


def test_folder_without_the_tests_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        peers.main(["--tinytorch", str(tmp_path), "--deep-ml", str(tmp_path)])
    assert f"there is no {tmp_path / peers.INLINE[0]}; give the folder of a clone" in capsys.readouterr().err
