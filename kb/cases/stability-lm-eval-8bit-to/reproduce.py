"""An evaluation harness moves every model that it has loaded, quantized ones as well.

Needs torch, transformers and one GPU. ``python reproduce.py failing`` ends in transformers' error,
``python reproduce.py fixed`` leaves quantized models alone and prints "fixed: ok". bitsandbytes is
not needed: a small GPT-2 with random weights carries the marks that its quantizer would leave.
"""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils.quantization_config import QuantizationMethod

CONFIG = GPT2Config(vocab_size=32, n_positions=16, n_embd=8, n_layer=1, n_head=2)


def from_pretrained(load_in_8bit):
    model = GPT2LMHeadModel(CONFIG).eval()
    if load_in_8bit:
        model.to("cuda")  # the quantizer places the weights while it loads them
        model.quantization_method = QuantizationMethod.BITS_AND_BYTES
        model.is_quantized = model.is_loaded_in_8bit = True
    return model


class HFLM:
    def __init__(self, device, load_in_8bit, variant):
        self._device = torch.device(device)
        self.gpt2 = from_pretrained(load_in_8bit)
        if variant == "failing" or not load_in_8bit:
            self.gpt2.to(self._device)

    @torch.no_grad()
    def loglikelihood(self, context, continuation):
        tokens = torch.tensor([context + continuation], device=self._device)
        log_probs = self.gpt2(tokens[:, :-1]).logits.log_softmax(-1)
        picked = log_probs[0, len(context) - 1 :].gather(-1, tokens[0, len(context) :, None])
        return float(picked.sum())


def main(variant):
    torch.manual_seed(0)
    lm = HFLM("cuda", load_in_8bit=True, variant=variant)
    print(lm.loglikelihood([1, 2, 3], [4, 5]))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
