"""transformers' Trainer on a tiny model: one way of logging for each argument."""

import sys

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainingArguments,
)
from transformers.utils import logging


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.arange(8) * (index + 1) % 90
        return {"input_ids": ids, "attention_mask": torch.ones(8), "labels": index % 2}


def trainer(*, steps=12, callbacks=(), **settings):
    config = BertConfig(
        vocab_size=100,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    model = BertForSequenceClassification(config)
    arguments = TrainingArguments(
        output_dir="out", max_steps=steps, per_device_train_batch_size=4, report_to=settings.pop("report_to", []),
        use_cpu=True, **settings,
    )  # fmt: skip
    return Trainer(
        model, arguments, train_dataset=Pairs(), eval_dataset=Pairs(), callbacks=list(callbacks),
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    )  # fmt: skip


def plain():
    trainer(logging_steps=3).train()


def debug():
    logging.set_verbosity_debug()
    logging.enable_explicit_format()
    trainer(log_level="debug", logging_steps=4, disable_tqdm=True, logging_first_step=True).train()


def evaluate():
    run = trainer(
        steps=24, eval_strategy="steps", eval_steps=4, save_strategy="steps", save_steps=4, logging_steps=2,
        load_best_model_at_end=True, metric_for_best_model="eval_accuracy", save_total_limit=2,
        callbacks=[EarlyStoppingCallback(2)],
    )  # fmt: skip
    print(run.train().metrics)
    print(run.evaluate())


def resume():
    logging.set_verbosity_info()
    trainer(steps=6, save_steps=6).train()
    trainer(steps=12, save_steps=6, bf16=True, gradient_accumulation_steps=2).train(
        resume_from_checkpoint=True
    )


def pinned():
    run = trainer(
        logging_steps=4, dataloader_num_workers=2, dataloader_pin_memory=True,
        gradient_checkpointing=True, report_to=["tensorboard"], torch_empty_cache_steps=2,
        skip_memory_metrics=False, include_num_input_tokens_seen=True,
    )  # fmt: skip
    run.train()
    run.save_model("out/final")
    run.log_metrics("eval", run.evaluate())


globals()[sys.argv[1]]()
