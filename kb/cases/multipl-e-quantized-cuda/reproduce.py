"""A checkpoint that is quantized already is loaded and then sent on with .cuda().

Needs torch, transformers and one GPU. ``python reproduce.py failing`` ends in transformers'
refusal, ``python reproduce.py fixed`` drops the call and prints "fixed: ok".
bitsandbytes is not needed: its layers play no part, only what transformers notes when it loads them.
The transformers of today refuses 8 bit with every bitsandbytes, 4 bit with old ones, and words it
so; that of the report named both in one sentence. The Llama is tiny and random.
"""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils.quantization_config import QuantizationMethod


def from_pretrained():
    """The checkpoint's own configuration says that it is quantized; the caller need not know."""
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16,
    )
    model = LlamaForCausalLM(config).cuda()
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    model.is_loaded_in_8bit = True
    return model


class Completer:
    def __init__(self, move):
        self.model = from_pretrained()
        if move:
            self.model = self.model.cuda()

    def complete(self, prompt):
        with torch.no_grad():
            return self.model(prompt.cuda()).logits.argmax(dim=-1)


def main(variant):
    torch.manual_seed(0)
    completer = Completer(move=variant == "failing")
    completer.complete(torch.randint(32, (1, 5)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
