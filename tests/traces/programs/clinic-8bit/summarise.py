"""Summarises doctors' letters with a T5 in 8 bits."""

import torch
from transformers import T5Config, T5ForConditionalGeneration
from transformers.utils.quantization_config import QuantizationMethod


def quantized_t5():
    """What loading with load_in_8bit=True leaves behind, without the quantized kernels."""
    config = T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)
    model = T5ForConditionalGeneration(config).to("cuda:0")
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    model.is_loaded_in_8bit = True
    return model


def summarise(letters, device):
    model = quantized_t5().to(device)
    return model.generate(letters.to(device), max_new_tokens=5)


if __name__ == "__main__":
    print(summarise(torch.randint(2, 50, (2, 10)), torch.device("cuda:0")))
