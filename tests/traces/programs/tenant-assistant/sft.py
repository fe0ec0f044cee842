"""Supervised fine-tuning of a small Llama with the Hugging Face Trainer."""

import torch
from accelerate import dispatch_model, infer_auto_device_map
from torch import nn
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Dialogues(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, position):
        ids = torch.randint(3, 128, (24,), generator=torch.Generator().manual_seed(position))
        return {"input_ids": ids, "labels": ids.clone()}


class Assistant(nn.Module):
    """The language model with label smoothing of our own."""

    def __init__(self, backbone, smoothing=0.1):
        super().__init__()
        self.backbone, self.smoothing = backbone, smoothing

    def forward(self, input_ids, labels):
        logits = self.backbone(input_ids=input_ids).logits[:, :-1]
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1),
            labels[:, 1:].flatten().to(logits.device),
            label_smoothing=self.smoothing,
        )
        return {"loss": loss, "logits": logits}


def load_backbone():
    """As from_pretrained(..., device_map="auto") would place it on two GPUs."""
    config = LlamaConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
    )
    model = LlamaForCausalLM(config)
    device_map = infer_auto_device_map(
        model, max_memory={0: 60_000, 1: 900_000}, no_split_module_classes=["LlamaDecoderLayer"]
    )
    print("device_map:", sorted(set(device_map.values())))
    return dispatch_model(model, device_map)


if __name__ == "__main__":
    arguments = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=2,
        max_steps=4,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(model=Assistant(load_backbone()), args=arguments, train_dataset=Dialogues())
    trainer.train()
