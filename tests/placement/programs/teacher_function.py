# devices: cuda:0,cpu
# causes: module-not-moved
import torch
import torch.nn.functional as F
from transformers import AutoModelForSequenceClassification

def load_models(args, device):
    student = AutoModelForSequenceClassification.from_pretrained(args.student).to(device)
    teacher = AutoModelForSequenceClassification.from_pretrained(args.teacher)  # here
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad_(False)
    return student, teacher

def train(args, loader):
    device = torch.device("cuda")
    student, teacher = load_models(args, device)
    opt = torch.optim.AdamW(student.parameters())
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.no_grad():
            t = teacher(**batch).logits  # fails
        s = student(**batch).logits
        loss = F.kl_div(s.log_softmax(-1), t.softmax(-1))
        loss.backward()
        opt.step()
train(None, None)
