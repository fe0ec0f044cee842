"""LoRA on a tiny model: train, save, merge."""

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel


def base():
    torch.manual_seed(0)
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    )


model = get_peft_model(base(), LoraConfig(task_type="CAUSAL_LM", r=4, modules_to_save=["lm_head"]))
model.print_trainable_parameters()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(6):
    ids = torch.randint(0, 64, (2, 8))
    loss = model(ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step:03d} loss={loss.item():.4f} lr=1.0e-02 device={loss.device}")
model.save_pretrained("adapter")
merged = PeftModel.from_pretrained(base(), "adapter").merge_and_unload()
print(type(merged).__name__, "merged")
