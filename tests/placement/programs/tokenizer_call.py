# devices: cpu,cuda:0
# causes: input-not-moved
import torch
from transformers import AutoModel, AutoTokenizer

class Embedder:
    def __init__(self, name, device="cuda"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to(device).eval()

    @torch.inference_mode()
    def embed(self, texts):
        enc = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")  # here
        out = self.model(**enc).last_hidden_state  # fails
        return out.mean(1)

print(Embedder("bert-base-uncased").embed(["a", "b"]).shape)
