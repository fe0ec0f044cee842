# devices: cuda:0,cpu
# causes: offloaded-to-cpu,module-not-moved,low-memory-mode
import torch
from transformers import AutoModel

def free(*models):
    for m in models:
        m.to("cpu")
    torch.cuda.empty_cache()

text = AutoModel.from_pretrained("a").cuda()
vision = AutoModel.from_pretrained("b").cuda()
ids = torch.ones(1, 4, dtype=torch.long).cuda()
a = text(ids).last_hidden_state
free(text)  # here
b = vision(ids).last_hidden_state
c = text(ids + 1).last_hidden_state  # fails
