"""A model built on meta gets its parameters from a file, but a buffer that is in no file stays there.

Needs torch, transformers and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` computes that buffer again and prints "fixed: ok".
"""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

CONFIG = LlamaConfig(
    vocab_size=32,
    hidden_size=8,
    intermediate_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    max_position_embeddings=32,
)


def saved_weights():
    return LlamaForCausalLM(CONFIG).state_dict()


def load(weights, variant):
    with torch.device("meta"):
        model = LlamaForCausalLM(CONFIG)
    model.load_state_dict(weights, assign=True)
    without_data = [name for name, buffer in model.named_buffers() if buffer.is_meta]
    print("still on meta:", ", ".join(without_data))
    if variant == "fixed":
        model.model.rotary_emb = LlamaRotaryEmbedding(CONFIG)
    return model.to("cuda:0")


def main(variant):
    torch.manual_seed(0)
    model = load(saved_weights(), variant).eval()
    with torch.no_grad():
        model(torch.randint(32, (1, 5), device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
