"""PyTorch as a contestant: pytorch.py MECHANISM FOLDER NAME T H K, in the words of contestant.mjs. One thread.

softmax-attention: the library's scaled_dot_product_attention, is_causal. The recurrent mechanisms have no operator of their own: one
token is four small products of batches; many tokens are chunks of 64, whose inner part is a triangular solve for all chunks at once (Yang
et al. 2024), so that only the states go from chunk to chunk. Tensors lie as each form wants them ([H,T,K]) before the clock starts.
"""
import json
import os
import sys
import time

import numpy
import torch

CHUNK = 64


def read(folder, name, shape):
    return torch.from_numpy(numpy.fromfile(f"{folder}/{name}.f32", dtype=numpy.float32).reshape(shape))


def write(folder, name, tensor):
    tensor.contiguous().numpy().tofile(f"{folder}/{name}.f32")


def softmax_attention(q, k, v):
    functional = torch.nn.functional
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return functional._scaled_dot_product_attention(q, k, v, is_causal=True)[0]  # its name before 2.0


def one_token(q, k, v, beta, g, state, scale):
    """q, k, v [H,1,K]; beta, g [H,1]; state [H,K,V] -> o [H,1,V], state."""
    if g is not None:
        state = state * g.exp().unsqueeze(-1)
    if beta is not None:
        v = beta.unsqueeze(-1) * (v - torch.bmm(k, state))
    state = torch.baddbmm(state, k.transpose(1, 2), v)
    return torch.bmm(q, state) * scale, state


def in_chunks(q, k, v, beta, g, state, scale):
    """q, k, v [H,T,K]; beta, g [H,T]; state [H,K,V] -> o [H,T,V], state. T is a multiple of CHUNK."""
    H, T, K = q.shape
    q, k, v = (x.reshape(H, T // CHUNK, CHUNK, K) for x in (q * scale, k, v))
    scores, last, decayed_k, decayed_q = q @ k.transpose(-1, -2), None, k, q
    if g is not None:  # e^(b_t - b_i) inside a chunk, b the sums of g from its begin
        b = g.reshape(H, T // CHUNK, CHUNK).cumsum(-1)
        between = (b.unsqueeze(-1) - b.unsqueeze(-2)).tril().exp()
        since = b.exp().unsqueeze(-1)
        scores, last = scores * between, b[..., -1:].unsqueeze(-1)
        decayed_q, decayed_k = q * since, k * since
    scores = scores.tril()
    until = k if g is None else k * (last - b.unsqueeze(-1)).exp()
    if beta is not None:
        beta = beta.reshape(H, T // CHUNK, CHUNK, 1)
        gram = beta * (k @ k.transpose(-1, -2))
        gram = (gram if g is None else gram * between).tril(-1) + torch.eye(CHUNK)
        both = torch.linalg.solve_triangular(gram, beta * torch.cat((v, decayed_k), -1), upper=False, unitriangular=True)
        v, read_k = both[..., :K], both[..., K:]
    o = torch.empty_like(v)
    for n in range(T // CHUNK):
        u = v[:, n] if beta is None else torch.baddbmm(v[:, n], read_k[:, n], state, alpha=-1)
        o[:, n] = torch.baddbmm(torch.bmm(scores[:, n], u), decayed_q[:, n], state)
        kept = state if g is None else state * last[:, n].exp()
        state = torch.baddbmm(kept, until[:, n].transpose(1, 2), u)
    return o.reshape(H, T, K), state


def main():
    mechanism, folder, name = sys.argv[1:4]
    T, H, K = (int(word) for word in sys.argv[4:7])
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    heads_first = lambda x: x.transpose(0, 1).contiguous()
    q, k, v = (heads_first(read(folder, file, (T, H, K))) for file in "qkv")
    if mechanism == "softmax-attention":
        what = "scaled_dot_product_attention"
        q, k, v = (x.unsqueeze(0) for x in (q, k, v))
        call = lambda: (softmax_attention(q, k, v)[0],)
    else:
        delta, gated = mechanism.endswith("delta-rule"), mechanism.startswith("gated")
        beta = heads_first(read(folder, "beta", (T, H))) if delta else None
        g = heads_first(read(folder, "g", (T, H))) if gated else None
        state = read(folder, "state", (H, K, K))
        form = one_token if T == 1 else in_chunks
        what = "one token, bmm" if T == 1 else f"chunks of {CHUNK}, bmm and solve_triangular"
        call = lambda: form(q, k, v, beta, g, state, K**-0.5 if delta else 1.0)
    now = time.process_time if os.environ.get("CONTEST_CLOCK") == "processor" else time.perf_counter
    begin = now()
    outputs = call()
    cold = now() - begin
    write(folder, f"{name}.o", outputs[0].transpose(0, 1))
    if len(outputs) == 2:
        write(folder, f"{name}.final_state", outputs[1])
    print(json.dumps({"about": f"PyTorch {torch.__version__}", "call": what, "cold_seconds": cold}), flush=True)
    for line in sys.stdin:
        begin = now()
        for _ in range(int(line)):
            call()
        print(now() - begin, flush=True)


main()
