import torch
from torch import nn
from transformers import BertConfig, BertModel

model = BertModel(BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8))
model.to("cuda")
old = model.get_input_embeddings()
new = nn.Embedding(old.num_embeddings + 2, old.embedding_dim).to(next(model.parameters()).device)  # finds: submodule-added-after-move
new.weight.data[:30] = old.weight.data.cpu()
model.set_input_embeddings(new)
print(model(torch.tensor([[4, 31]], device="cuda")).last_hidden_state.shape)
