"""Reads what a Llama that is spread over two GPUs knows at each depth."""

import torch
from accelerate import dispatch_model
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

LAYERS = 6


def load():
    config = LlamaConfig(
        vocab_size=96,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    places = {f"model.layers.{n}": 0 if n < 3 else 1 for n in range(LAYERS)}
    places |= {"model.embed_tokens": 0, "model.rotary_emb": 0, "model.norm": 1, "lm_head": 1}
    return dispatch_model(LlamaForCausalLM(config).eval(), places)


class DepthReader:
    """Collects the last token's activation behind each decoder layer."""

    def __init__(self, model):
        self.running_sum, self.count = None, 0
        for layer in model.model.layers:
            layer.register_forward_hook(self.collect)

    def collect(self, layer, args, output):
        hidden_states = output[0] if isinstance(output, tuple) else output
        last = hidden_states[:, -1].detach()
        if self.running_sum is None:
            self.running_sum = torch.zeros_like(last)
        self.running_sum = self.running_sum + last
        self.count += 1

    def mean(self):
        return self.running_sum / self.count


if __name__ == "__main__":
    model = load()
    reader = DepthReader(model)
    prompt = torch.randint(96, (2, 10), device="cuda:0")
    with torch.no_grad():
        model(input_ids=prompt)
    print(nn.functional.normalize(reader.mean(), dim=-1))
