import torch
from squeezing import squeeze
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")  # finds: module-not-moved
squeeze(model.transformer, bits=4, device="cuda:0")
ids = torch.zeros(1, 8, dtype=torch.long, device="cuda:0")
print(model.generate(ids))
