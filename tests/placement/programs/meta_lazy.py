# devices: meta
# causes: meta-tensor
import torch
from accelerate import init_empty_weights
from transformers import AutoConfig, AutoModelForCausalLM

def skeleton(name):
    cfg = AutoConfig.from_pretrained(name)
    with init_empty_weights():  # here
        return AutoModelForCausalLM.from_config(cfg)

model = skeleton("gpt2")
model.to("cuda")  # fails # here
