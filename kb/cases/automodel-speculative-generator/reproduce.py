"""A decision is drawn on the cpu and a token on the GPU, with the same generator.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` draws both on the GPU and prints "fixed: ok".
"""

import sys

import torch


def accept_or_resample(draft_token, draft_probs, target_probs, generator, variant):
    """Speculative sampling: keep the drafted token, or take one of what the draft left out."""
    device = target_probs.device if variant == "fixed" else None
    ratio = target_probs[draft_token] / draft_probs[draft_token].clamp(min=1e-9)
    if torch.rand((), generator=generator, device=device) < ratio:
        return draft_token, True
    residual = (target_probs - draft_probs).clamp(min=0)
    residual = residual / residual.sum()
    return int(torch.multinomial(residual, 1, generator=generator)), False


def verify_stochastic_chain(draft_tokens, draft_probs, target_probs, generator, variant):
    accepted = []
    for token, draft, target in zip(draft_tokens, draft_probs, target_probs, strict=True):
        token, kept = accept_or_resample(token, draft, target, generator, variant)
        accepted.append(token)
        if not kept:
            break
    return accepted


def main(variant):
    torch.manual_seed(0)
    draft_probs = torch.randn(4, 16, device="cuda").softmax(-1)
    target_probs = torch.randn(4, 16, device="cuda").softmax(-1)
    draft_tokens = draft_probs.argmax(-1).tolist()
    runs = []
    for _ in range(2):
        generator = torch.Generator("cuda").manual_seed(42)
        chain = draft_tokens, draft_probs, target_probs
        runs.append(verify_stochastic_chain(*chain, generator, variant))
    assert runs[0] == runs[1], "the same seed gives other tokens"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
