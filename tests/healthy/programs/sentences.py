"""sentence-transformers on a model made here."""

import logging

from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
    models,
)
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

logging.basicConfig(
    format="%(asctime)s - %(message)s", datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO
)

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "gpu", "cpu", "error", "tensor", "moved", "kept"]
tokenizer = Tokenizer(
    token_models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
)
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
    model_max_length=16,
).save_pretrained("tiny")  # fmt: skip
BertModel(
    BertConfig(
        vocab_size=10,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
).save_pretrained("tiny")
word = models.Transformer("tiny", max_seq_length=16)
model = SentenceTransformer(modules=[word, models.Pooling(16)], device="cpu")
pairs = Dataset.from_dict(
    {"anchor": ["gpu error", "cpu tensor"] * 4, "positive": ["gpu moved", "cpu kept"] * 4}
)
arguments = SentenceTransformerTrainingArguments(
    "out", max_steps=6, logging_steps=2, report_to=[], use_cpu=True
)
SentenceTransformerTrainer(
    model, arguments, pairs, loss=losses.MultipleNegativesRankingLoss(model)
).train()
print(model.encode(["gpu error", "cpu tensor"], show_progress_bar=True).shape)
