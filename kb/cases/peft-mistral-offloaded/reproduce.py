"""LoRA layers added to a layer that accelerate keeps on the cpu stay there themselves.

Needs torch, transformers, peft, accelerate and one GPU. ``python reproduce.py failing`` ends in the
device error, ``python reproduce.py fixed`` has the whole model on the GPU and prints "fixed: ok".
The failing device map is what device_map="auto" gives when the GPU has no room for the last layer.
peft of today leaves new weights of such a layer without memory (meta), which ends in another error;
the program gives them memory on the cpu, where the layer itself is kept and where the reported
weight was. Quantisation plays no part and is left out. The Mistral is tiny and random.
"""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from accelerate import dispatch_model
from peft import LoraConfig, get_peft_model
from transformers import MistralConfig, MistralForCausalLM

DEVICE_MAPS = {
    "failing": {
        "model.embed_tokens": 0,
        "model.rotary_emb": 0,
        "model.layers.0": 0,
        "model.layers.1": "cpu",
        "model.norm": 0,
        "lm_head": 0,
    },
    "fixed": {"": 0},
}


def load(variant):
    config = MistralConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    return dispatch_model(MistralForCausalLM(config), device_map=DEVICE_MAPS[variant])


def materialize_adapters(peft_model):
    """Gives LoRA weights that are on the meta device memory on the cpu."""
    for name, module in peft_model.named_modules():
        weight = getattr(module, "weight", None)
        if ".lora_" in name and weight is not None and weight.is_meta:
            module.to_empty(device="cpu")
            torch.nn.init.normal_(module.weight, std=0.02)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = load(variant)
    # A hook brings the weights of a layer that is kept on the cpu to the GPU while it runs. What is
    # put around its Linear layers now has no hook, and nothing brings it.
    lora = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    peft_model = get_peft_model(model, lora)
    materialize_adapters(peft_model)
    print("peft_model.device:", peft_model.device)

    input_ids = torch.randint(32, (1, 5)).to(device)
    loss = peft_model(input_ids=input_ids, labels=input_ids).loss
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
