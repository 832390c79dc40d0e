#!/usr/bin/env python3
"""The shapes of `linearmem bench --backend cuda` by other libraries on the same device: PyTorch, and flash-linear-attention (Triton)
where it is installed. What is not there is named; every result is held to float64 or to PyTorch before it is timed.

    python3 native/cuda/peers/run.py [--rounds N]
"""
import argparse
import importlib
import statistics
import sys

# As CudaSizes in native/cuda/include/linearmem/cuda_measure.hpp.
TOKENS, HEADS, WIDTH = 8192, 96, 128
REQUESTS, DECODE_HEADS = 256, 32
KEYS, KEY_WIDTH, NEIGHBOURS = 10_000_000, 128, 16
MATRIX, COPIED = 8192, 1 << 30


def imported(name):
    """The module, or None after a line that says what is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"not measured: {name} cannot be imported ({error})")
        return None


def seconds_of(torch, rounds, work):
    """Median by the device's clock, after three calls that are not counted."""
    for _ in range(3):
        work()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def line(name, shape, error, seconds, flops, bytes_):
    print(f"| {name} | {shape} | {error:.1e} | {seconds * 1e3:.3f} ms | {flops / seconds * 1e-12:.2f} TFLOP/s | {bytes_ / seconds * 1e-9:.1f} GB/s |")


def proved(name, error, tolerance):
    if not error <= tolerance:  # NaN too
        sys.exit(f"{name}: differs by {error} of the largest value, must be at most {tolerance}")
    return error


def difference(got, expected):
    expected = expected.double()
    return float((got.double() - expected).abs().max() / expected.abs().max().clamp(min=1))


def limits(torch, rounds):
    source = torch.ones(COPIED // 4, device="cuda")
    target = torch.empty_like(source)
    seconds = seconds_of(torch, rounds, lambda: target.copy_(source))
    line("torch copy", f"{COPIED} bytes", proved("copy", difference(target[-8:], source[-8:]), 0), seconds, 0, 2 * COPIED)
    torch.backends.cuda.matmul.allow_tf32 = False
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.bfloat16, 2e-2)):
        a, b = (torch.rand(MATRIX, MATRIX, device="cuda", dtype=dtype) - 0.5 for _ in range(2))
        error = proved("matmul", difference((a @ b)[:16], a[:16].double() @ b.double()), tolerance)
        line(f"torch matmul, {dtype}", f"{MATRIX} x {MATRIX}", error, seconds_of(torch, rounds, lambda: a @ b), 2 * MATRIX**3, 0)


def definition(torch, q, k, v, g, beta, state, scale):
    """One head in float64: the gated delta rule token by token. q, k, v [T,K]; g, beta [T]; state [K,V]."""
    q, k, v, g, beta, state = (x.double() for x in (q, k, v, g, beta, state))
    rows = []
    for t in range(q.shape[0]):
        state = state * g[t].exp()
        state = state + torch.outer(k[t], beta[t] * (v[t] - k[t] @ state))
        rows.append(scale * (q[t] @ state))
    return torch.stack(rows)


def gated_delta(torch, rounds, name, call, B, T, H, dtype, tolerance):
    K = WIDTH
    q, k, v = (torch.randn(B, T, H, K, device="cuda", dtype=dtype) for _ in range(3))
    k = torch.nn.functional.normalize(k.float(), dim=-1).to(dtype)
    beta = torch.rand(B, T, H, device="cuda", dtype=dtype)
    g = -torch.rand(B, T, H, device="cuda", dtype=torch.float32)
    state = torch.randn(B, H, K, K, device="cuda", dtype=torch.float32)
    work = lambda: call(q=q, k=k, v=v, g=g, beta=beta, scale=K**-0.5, initial_state=state, output_final_state=True)[0]
    checked = min(T, 512)
    expected = definition(torch, q[-1, :checked, -1], k[-1, :checked, -1], v[-1, :checked, -1], g[-1, :checked, -1], beta[-1, :checked, -1], state[-1, -1], K**-0.5)
    error = proved(name, difference(work()[-1, :checked, -1], expected), tolerance)
    tokens, item = B * T * H, torch.finfo(dtype).bits // 8
    line(name, f"B {B}, T {T}, H {H}, K = V = {K}, {dtype}", error, seconds_of(torch, rounds, work), 7 * tokens * K * K,
         item * tokens * (4 * K + 1) + 4 * tokens + 8 * B * H * K * K)


def nearest(torch, rounds):
    keys, query = torch.rand(KEYS, KEY_WIDTH, device="cuda") * 2 - 1, torch.rand(1, KEY_WIDTH, device="cuda") * 2 - 1
    squares = (keys * keys).sum(-1)
    search = lambda: torch.topk(squares - 2 * (keys @ query[0]), NEIGHBOURS, largest=False, sorted=True)
    got = search().indices
    exact = ((keys[got].double() - query.double()) ** 2).sum(-1)
    proved("torch topk", 0.0 if bool((exact.diff() > -1e-4).all()) else 1.0, 0)
    line("torch matmul and topk (rounded distances)", f"{KEYS} keys of {KEY_WIDTH}, one query, k {NEIGHBOURS}", 0, seconds_of(torch, rounds, search),
         2 * KEYS * KEY_WIDTH, 4 * KEYS * KEY_WIDTH)


def main():
    parser = argparse.ArgumentParser(description="Shapes of `linearmem bench --backend cuda` by PyTorch and flash-linear-attention.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    torch = imported("torch")
    if torch is None:
        return
    if not torch.cuda.is_available():
        print(f"not measured: torch {torch.__version__} sees no CUDA device")
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, rounds {rounds}\n")
    print("| what | shape | error | median | | |\n|---|---|---|---|---|---|")
    limits(torch, rounds)
    nearest(torch, rounds)
    rules = imported("fla.ops.gated_delta_rule")
    if rules is not None:
        gated_delta(torch, rounds, "fla chunk_gated_delta_rule", rules.chunk_gated_delta_rule, 1, TOKENS, HEADS, torch.bfloat16, 2e-2)
        gated_delta(torch, rounds, "fla fused_recurrent_gated_delta_rule", rules.fused_recurrent_gated_delta_rule, REQUESTS, 1, DECODE_HEADS, torch.bfloat16, 2e-2)


if __name__ == "__main__":
    main()
