# devices: cpu,cuda:0
# causes: module-not-moved
import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

class Scorer:
    def __init__(self, name):
        self.tok = AutoTokenizer.from_pretrained(name)
        self.rm = AutoModelForSequenceClassification.from_pretrained(name).eval()

    def __call__(self, ids, mask):
        return self.rm(input_ids=ids, attention_mask=mask).logits  # fails

device = "cuda"
policy = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
scorer = Scorer("rm")  # here
tok = AutoTokenizer.from_pretrained("gpt2")
enc = tok(["hello"], return_tensors="pt").to(device)
seq = policy.generate(**enc)
print(scorer(seq, torch.ones_like(seq)))  # fails
