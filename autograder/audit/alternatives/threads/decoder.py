"""Threads: prefixes are scored in parallel; a producer thread generates tokens into a queue."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be a multiple of two")

    def column(k):
        angle = np.arange(t) / 10000 ** ((k - k % 2) / d_model)
        return np.cos(angle) if k % 2 else np.sin(angle)

    with ThreadPoolExecutor(max_workers=2) as pool:
        return np.stack(list(pool.map(column, range(d_model))), axis=1)


def embed(tokens, table):
    if any(token < 0 or token >= len(table) for token in tokens):
        raise ValueError("a token without a row")
    with ThreadPoolExecutor(max_workers=2) as pool:
        return np.stack(list(pool.map(table.__getitem__, tokens)))


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"]) * 1.0
    x += positional_encoding(*x.shape)
    x = transformer_stack(x, params["blocks"], n_heads, norm="pre", mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    def score(i):
        logits = decoder_logits(tokens[:i], params, n_heads)[-1].astype(float)
        return logits[tokens[i]] - np.logaddexp.reduce(logits)

    with ThreadPoolExecutor(max_workers=3) as pool:
        return float(sum(pool.map(score, range(1, len(tokens)))))


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    produced = queue.Queue()

    def produce():
        sequence = tokens.tolist()
        for _ in range(max_new_tokens):
            sequence.append(int(np.argmax(decoder_logits(np.array(sequence), params, n_heads)[-1])))
            produced.put(sequence[-1])
            if sequence[-1] == eos:
                break
        produced.put(None)

    producer = threading.Thread(target=produce)
    producer.start()
    new = list(iter(produced.get, None))
    producer.join()
    return np.array(tokens.tolist() + new)
