import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

model = AutoModelForCausalLM.from_pretrained("distilgpt2")
writer = pipeline("text-generation", model=model, tokenizer=AutoTokenizer.from_pretrained("distilgpt2"), device=0)
for text in ("a red house", "near the sea"):
    tokens = writer.tokenizer(text, return_tensors="pt").to(next(model.parameters()).device)  # finds: input-not-moved
    with torch.no_grad():
        print(text, writer.model(**tokens).logits.shape)
