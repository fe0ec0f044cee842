"""Drafts contract clauses with a model that does not fit on one small GPU."""

import torch
from accelerate import dispatch_model, infer_auto_device_map
from transformers import GPT2Config, GPT2LMHeadModel


def load_drafter():
    """As from_pretrained(..., device_map="auto") would on a GPU with little memory."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=32, n_layer=4, n_head=4))
    model.tie_weights()
    device_map = infer_auto_device_map(
        model, max_memory={0: 250_000, "cpu": 10**9}, no_split_module_classes=["GPT2Block"]
    )
    return dispatch_model(model.eval(), device_map, main_device=0)


def draft(model, clause):
    with torch.no_grad():
        return model.generate(clause, max_new_tokens=5, do_sample=False, pad_token_id=0)


if __name__ == "__main__":
    drafter = load_drafter()
    print("placed on", sorted({str(place) for place in drafter.hf_device_map.values()}))
    drafter = drafter.to("cuda")
    print(draft(drafter, torch.tensor([[5, 9, 14]], device="cuda")))
