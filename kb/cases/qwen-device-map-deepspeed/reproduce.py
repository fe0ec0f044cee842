"""A model spread by a device map is trained by an engine that places it whole on each rank's GPU.

Needs torch, transformers, accelerate and two GPUs. ``python reproduce.py failing`` ends in the
device error, ``python reproduce.py fixed`` loads without a device map and prints "fixed: ok".
One process plays rank 1 of a launch with two. ``Engine`` does what matters here of DeepSpeed's: it
moves the module and every batch to the rank's GPU. The hooks that accelerate left on the module go
on sending the token ids to the GPU that the map names. The Qwen2 is tiny and random.
"""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from accelerate import dispatch_model
from transformers import Qwen2Config, Qwen2ForCausalLM

LOCAL_RANK = 1
AUTO_MAP = {
    "model.embed_tokens": 0,
    "model.rotary_emb": 0,
    "model.layers.0": 0,
    "model.layers.1": 1,
    "model.norm": 1,
    "lm_head": 1,
}


class Engine(torch.nn.Module):
    """A data-parallel training engine: one whole model a process, on the process's own GPU."""

    def __init__(self, module, local_rank):
        super().__init__()
        self.device = torch.device("cuda", local_rank)
        self.module = module.to(self.device)
        self.optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)

    def forward(self, *inputs, **kwargs):
        loss = self.module(*inputs, **kwargs)
        return loss


def load(device_map):
    config = Qwen2Config(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    model = Qwen2ForCausalLM(config)
    return model if device_map is None else dispatch_model(model, device_map=device_map)


def training_step(engine, batch):
    inputs = {name: tensor.to(engine.device) for name, tensor in batch.items()}
    loss = compute_loss(engine, inputs)
    loss.backward()
    engine.optimizer.step()


def compute_loss(engine, inputs):
    outputs = engine(**inputs)
    return outputs["loss"]


def train(variant):
    torch.manual_seed(0)
    model = load(AUTO_MAP if variant == "failing" else None)
    engine = Engine(model, LOCAL_RANK)
    input_ids = torch.randint(32, (2, 6))
    training_step(engine, {"input_ids": input_ids, "labels": input_ids})
    print(f"{variant}: ok")


if __name__ == "__main__":
    train(sys.argv[1])
