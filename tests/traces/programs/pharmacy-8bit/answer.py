"""Answers pharmacists' questions with a model in 8 bits."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils.quantization_config import QuantizationMethod


def load_in_8bit(device_map):
    """What from_pretrained(..., quantization_config=BitsAndBytesConfig(load_in_8bit=True)) leaves
    behind, without the quantized kernels: the weights are in place and the model says so."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4))
    model.to(device_map[""])
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    model.is_loaded_in_8bit = True
    return model.eval()


class Pharmacist:
    def __init__(self, device):
        self.device = device
        self.model = load_in_8bit(device_map={"": 0})
        self.model.cuda()

    @torch.no_grad()
    def answer(self, question):
        ids = torch.tensor([question], device=self.device)
        return self.model.generate(ids, max_new_tokens=4, pad_token_id=0)


if __name__ == "__main__":
    print(Pharmacist("cuda:0").answer([7, 8, 9]))
