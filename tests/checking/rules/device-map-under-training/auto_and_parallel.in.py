import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")
model = torch.nn.DataParallel(model)  # finds: device-map-under-training
ids = tok("hello", return_tensors="pt").input_ids.to("cuda:0")
print(model(ids).logits.shape)
