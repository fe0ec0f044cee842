import torch
from transformers import LogitsProcessor, LogitsProcessorList, OPTConfig, OPTForCausalLM


class Quieter(LogitsProcessor):
    """makes some words less likely"""

    def __init__(self, count, words):
        self.less = torch.zeros(count, device="cuda:0")  # finds: created-without-device|unregistered-tensor
        self.less[words] = -4.0

    def __call__(self, input_ids, scores):
        return scores + self.less


model = OPTForCausalLM(OPTConfig(vocab_size=40, hidden_size=8, num_hidden_layers=1, ffn_dim=8, num_attention_heads=1)).to("cuda:0")
start = torch.tensor([[2, 7, 9]], device="cuda:0")
print(model.generate(start, logits_processor=LogitsProcessorList([Quieter(40, [5, 6])]), max_new_tokens=3))
