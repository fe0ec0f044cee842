# devices: cpu,cuda:0
# causes: input-not-moved
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, default_data_collator
from datasets import load_dataset

tok = AutoTokenizer.from_pretrained("distilbert-base-uncased")
ds = load_dataset("imdb", split="test").map(lambda b: tok(b["text"], truncation=True), batched=True)
loader = DataLoader(ds, batch_size=8, collate_fn=default_data_collator)
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")
device = torch.device("cuda:0")
model.to(device)
model.eval()
for batch in loader:
    with torch.no_grad():
        out = model(**batch)  # fails # here
