"""A vector made on cuda:0 is added, in a forward hook, to the output of a layer on cuda:1.

Needs torch, transformers, accelerate and two GPUs. ``python reproduce.py failing`` ends in the
device error, ``python reproduce.py fixed`` moves the vector at that line and prints "fixed: ok".
As in MEMIT: a Llama split over the GPUs by accelerate, an edited layer on the second one, and an
optimisation of ``delta`` through that layer's output. The model is tiny and random.
"""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from accelerate import dispatch_model
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

DEVICE = "cuda:0"  # hparams.device in EasyEdit
EDITED_LAYER = 1
DEVICE_MAP = {
    "model.embed_tokens": 0,
    "model.rotary_emb": 0,
    "model.layers.0": 0,
    "model.layers.1": 1,
    "model.norm": 1,
    "lm_head": 1,
}


def split_llama():
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    model = LlamaForCausalLM(config).requires_grad_(False).eval()
    return dispatch_model(model, device_map=DEVICE_MAP)


def compute_z(model, input_ids, lookup_idxs, move_delta):
    """Optimises the vector that, added to one layer's output, makes the wanted token likely."""
    delta = torch.zeros(model.config.hidden_size, requires_grad=True, device=DEVICE)

    def edit_output_fn(cur_out):
        for i, idx in enumerate(lookup_idxs):
            if move_delta:
                cur_out[i, idx, :] += delta.to(cur_out.device)
            else:
                cur_out[i, idx, :] += delta
        return cur_out

    def retain_hook(module, inputs, output):
        # A decoder layer returned a tuple up to transformers 4.53, a tensor since.
        if isinstance(output, tuple):
            return edit_output_fn(output[0].clone()), *output[1:]
        return edit_output_fn(output.clone())

    optimizer = torch.optim.Adam([delta], lr=0.5)
    handle = model.model.layers[EDITED_LAYER].register_forward_hook(retain_hook)
    for _ in range(2):
        optimizer.zero_grad()
        logits = model(input_ids=input_ids).logits[:, -1, :]
        loss = cross_entropy(logits, input_ids[:, 0].to(logits.device))
        loss.backward()
        optimizer.step()
    handle.remove()
    return delta


def main(variant):
    torch.manual_seed(0)
    model = split_llama()
    input_ids = torch.randint(model.config.vocab_size, (2, 6)).to(DEVICE)
    delta = compute_z(model, input_ids, lookup_idxs=[5, 5], move_delta=variant == "fixed")
    assert delta.abs().sum().item() > 0, "delta was not optimised"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
