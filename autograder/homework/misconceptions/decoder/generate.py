"""Misconceptions about generate."""

import numpy as np

from autograder.homework.library import KEPT, written
from decoder import decoder_logits

GREEDY = "the docstring of `generate`"
STOP = "Stop right after producing eos, and keep it in the result."
COUNT = "Add max_new_tokens tokens to the prompt, or fewer if eos comes first."
WHOLE_TEXT = "In each step, pass the prompt and all new tokens to the decoder and use the last row of the logits."


@written
def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    text = tokens.astype(int)
    for _ in range(max_new_tokens):
        context = text
        logits = decoder_logits(context, params, n_heads)
        row = logits[-1]
        token = int(np.argmax(row))
        text = np.append(text, token)
        if token == eos:
            break
    return text


generate.wrong("prompt_dropped", "generate", {"return text": "return text[len(tokens):]"},
    does="Your code returns only the new tokens.", right="The result begins with the prompt.", read=GREEDY)
generate.wrong("one_too_many", "generate", {"range(max_new_tokens)": "range(max_new_tokens + 1)"},
    does="Your code produces one token too many.", right=COUNT, read=GREEDY)
generate.wrong("one_too_few", "generate", {"range(max_new_tokens)": "range(max_new_tokens - 1)"},
    does="Your code produces one token too few.", right=COUNT, read=GREEDY)
generate.wrong("at_least_one", "generate", {"range(max_new_tokens)": "range(max(max_new_tokens, 1))"},
    does="Your code always produces at least one token, so max_new_tokens=0 does not return the prompt.", right="With max_new_tokens=0, return the prompt.", read=GREEDY)
generate.wrong("total_length", "generate", {"range(max_new_tokens)": "range(max_new_tokens - len(tokens))"},
    does="Your code treats max_new_tokens as the total length, so a longer prompt gets a shorter continuation.", right=COUNT, read=GREEDY)
generate.wrong("one_token", "generate", {"range(max_new_tokens)": "range(min(max_new_tokens, 1))"},
    does="Your code stops after one token.", right="Produce max_new_tokens tokens, unless eos comes first.", read=GREEDY)
generate.wrong("eos_ignored", "stopping", {"if token == eos": "if False"},
    does="Your code does not stop at eos, so text goes on after its end.", right=STOP, read=GREEDY)
generate.wrong("eos_dropped", "stopping", {"        text = np.append(text, token)\n        if token == eos:\n            break\n":
    "        if token == eos:\n            break\n        text = np.append(text, token)\n"},
    does="Your code drops the final eos, so the caller cannot tell a finished text from one that was cut off.", right=STOP, read=GREEDY)
generate.wrong("eos_padded", "stopping", {"            break\n":
    "            text = np.append(text, [eos] * (len(tokens) + max_new_tokens - len(text))).astype(int)\n            break\n"},
    does="Your code pads the result with eos.", right="The result ends right after the first eos produced.", read=GREEDY)
generate.wrong("one_after_eos", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if len(text) > len(tokens) + 1 and text[-2] == eos:\n            break\n        context = text\n"},
    does="Your code produces one more token after eos.", right=STOP, read=GREEDY)
generate.wrong("eos_in_prompt", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if eos is not None and eos in text:\n            break\n        context = text\n"},
    {"if token == eos": "if eos is not None and eos in tokens"}, {"if token == eos": "if eos is not None and eos in text"},
    {"    text = tokens.astype(int)\n": "    text = tokens.astype(int)\n    if eos is not None and eos in text:\n"
    "        return text[: list(text).index(eos) + 1]\n"},
    does="Your code also stops at an eos in the prompt.", right="Stop only at an eos that your code has produced.", read=GREEDY)
generate.wrong("eos_checked_first", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if text[-1] == eos:\n            break\n        context = text\n"},
    does="Your code does not continue a prompt that ends with eos, so a prompt that joins finished texts gets no continuation.", right="Stop only at an eos that your code has produced.",
    read=GREEDY)
generate.wrong("eos_zero_is_none", "stopping", {"if token == eos": "if eos and token == eos"},
    does="Your code treats eos=0 as no eos, because 0 is falsy.", right="Test `eos is not None`.",
    read="the Python library reference, Truth Value Testing")
generate.wrong("none_is_zero", "stopping", {"if token == eos": "if token == (eos or 0)"},
    does="Without an eos, your code stops at token 0.", right="With eos=None, stop only after max_new_tokens tokens.",
    read="the signature of `generate`")
generate.wrong("none_is_last", "stopping", {"if token == eos": "if token == (len(row) - 1 if eos is None else eos)"},
    does="Without an eos, your code stops at the last token of the vocabulary.", right="With eos=None, stop only after max_new_tokens tokens.",
    read="the signature of `generate`")
generate.wrong("eos_identity", "stopping", {"if token == eos": "if token is eos and token <= 256"},
    does="Your code compares with eos using `is`, which works only for small integers.", right="Compare with ==.",
    read="the Python language reference, Identity comparisons")
generate.wrong("stops_at_repetition", "stopping", {"if token == eos": "if token == eos or token == text[-2]"},
    does="Your code stops when a token repeats the previous one.", right=STOP, read=GREEDY)
generate.wrong("highest_id", "generate", {"np.argmax(row)": "len(row) - 1 - np.argmax(row[::-1])"},
    {"np.argmax(row)": "np.argsort(row)[-1]"},
    {"np.argmax(row)": "np.argsort(row, kind='stable')[-1]"},
    does="Your code does not choose the lowest id in a tie.", right="The lowest id wins a tie, as in np.argmax.",
    read="numpy.argmax, section Notes")
generate.wrong("smallest_logit", "generate", {"np.argmax": "np.argmin"},
    does="Your code chooses the smallest logit.", right="Choose the largest logit.", read=GREEDY)
generate.wrong("largest_magnitude", "generate", {"np.argmax(row)": "np.argmax(np.abs(row))"},
    does="Your code chooses the logit with the largest magnitude.", right="Choose the largest logit, whatever its sign.",
    read=GREEDY)
generate.wrong("sampled", "generate", {"token = int(np.argmax(row))":
    "odds = np.exp(row - row.max())\n        token = int(np.random.default_rng(0).choice(len(row), p=odds / odds.sum()))"},
    does="Your code samples the next token.", right="Greedy decoding chooses the most likely token: the largest logit.", read=GREEDY)
generate.wrong("first_row", "generate", {"logits[-1]": "logits[0]"},
    does="Your code chooses the next token from the first row of the logits.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("row_before_last", "generate", {"logits[-1]": "logits[max(len(logits) - 2, 0)]"},
    does="Your code chooses the next token from the second-to-last row of the logits.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("whole_logits", "generate", {"np.argmax(row)": "np.argmax(logits) % len(row)"},
    {"np.argmax(row)": "np.argmax(logits.max(axis=0))"},
    does="Your code chooses the largest logit across all rows.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("newest_token_only", "generate", {"context = text": "context = text[-1:]"},
    does="Your code passes only the newest token to the decoder, so every step forgets the context, and equal tokens always get the same successor.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("new_tokens_only", "generate",
    {"context = text": "context = text[len(tokens) :] if len(text) > len(tokens) else text"},
    does="Your code drops the prompt and passes only the new tokens to the decoder.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("prompt_only", "generate", {"context = text": "context = text[: len(tokens)]"},
    does="Your code passes only the prompt to the decoder in every step, so it produces the same token again and again.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("at_most_ten", "generate", {"range(max_new_tokens)": "range(min(max_new_tokens, 10))"},
    does="Your code never produces more than 10 tokens.", right="Produce max_new_tokens tokens, unless eos comes first.",
    read=GREEDY)
generate.wrong("window", "generate", {"context = text": "context = text[-len(tokens) :]"},
    *({"context = text": f"context = text[-{length}:]"} for length in (2, 3, 4, 8, 16)),
    does="Your code passes only the last part of the text to the decoder.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("prepended", "generate", {"np.append(text, token)": "np.append(token, text)"},
    does="Your code prepends the new tokens.", right="Append new tokens at the end.", read=GREEDY)
generate.wrong("batch_axis", "generate", {"return text": "return text[None]"},
    does="Your result has an extra leading axis of length 1.", right="Return a 1-D array.", read=GREEDY)
generate.wrong("list", "generate", {"return text": "return text.tolist()"},
    does="Your code returns a list.", right="Return an array of integers.", read="the section Returns of the docstring of `generate`")
generate.wrong("float_tokens", "generate", {"return text": "return text.astype(float)"},
    does="Your code returns the tokens as floats.", right="Return an array of integers.",
    read="the section Returns of the docstring of `generate`")
generate.wrong("remembered", "generate", {"eos=None)": "eos=None, new=[])",
    "    for _": "    text = np.append(text, new).astype(int)\n    for _",
    "        if token": "        new.append(token)\n        if token"}, memory=True,
    does="Your code keeps the tokens from an earlier call.",
    right="Start from the prompt of this call: a mutable default value is created only once.",
    read=KEPT)
generate.wrong("one_step_cached", "generate", {"eos=None)": "eos=None, cache={})",
    "decoder_logits(context, params, n_heads)": "cache.setdefault(context.tobytes(), decoder_logits(context, params, n_heads))"},
    memory=True,
    does="Your code reuses the logits from an earlier call with the same tokens.", right="Compute the logits in every call: the parameters may differ.", read=KEPT)


LOOKUP = {
    "embedding": np.array([[9.0, 0.0], [0.0, 9.0]]),
    "blocks": [],
    "w_out": np.array([[-1.0, 1.0], [1.0, -1.0]]),
    "b_out": np.array([0.25, 0.5]),
}
BLOCK = {
    "ln_1": {"gamma": np.array([2.0, 0.5]), "beta": np.array([0.2, -0.1])},
    "attention": {
        "w_q": np.array([[0.5, -1.0], [1.0, 0.5]]),
        "w_k": np.array([[0.5, 0.0], [-1.0, 1.0]]),
        "w_v": np.array([[2.0, -0.5], [0.5, 1.0]]),
        "w_o": np.array([[0.5, 1.0], [1.0, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 2.0]), "beta": np.array([-0.2, 0.3])},
    "ffn": {
        "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
        "b_1": np.array([0.5, -0.5, 0.2]),
        "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
        "b_2": np.array([0.1, -0.3]),
    },
}
OTHER_BLOCK = {**BLOCK, "ln_1": BLOCK["ln_2"], "ln_2": BLOCK["ln_1"]}
THREE = {
    "embedding": np.array([[2.0, 0.5], [-1.0, 1.0], [0.5, -0.5]]),
    "blocks": [],
    "w_out": np.array([[1.5, -1.0, 0.5], [0.5, 2.0, -1.0]]),
    "b_out": np.array([0.2, 0.0, -0.4]),
}
TIE = {
    "embedding": np.array([[2.0, 1.0], [0.5, 0.0], [1.0, 1.0]]),
    "blocks": [],
    "w_out": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "b_out": np.array([0.5, 1.0, 1.0]),
}
TWO_BLOCKS = {**THREE, "blocks": [BLOCK, OTHER_BLOCK]}

EXAMPLES = {
    "generate": [
        ((np.array([0]), LOOKUP, 1, 0), {}),
        ((np.array([0]), TIE, 1, 2), {}),
        ((np.array([0, 1]), LOOKUP, 1, 3), {"eos": 0}),
        ((np.array([0, 1]), LOOKUP, 1, 3), {"eos": 1}),
        ((np.array([0, 2]), TWO_BLOCKS, 2, 3), {}),
    ],
}
