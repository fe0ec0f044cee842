"""Modules of sentence-transformers, which hand dictionaries on."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece

_SENTENCE = Field("embedding", "torch.randn($n, 16)")
_TOKENS = Field("tokens", "torch.randn($n, 6, 16)")
_MASK = Field("mask", "torch.ones($n, 6, dtype=torch.long)")
_GIVEN = "'token_embeddings': tokens, 'attention_mask': mask, 'sentence_lengths': mask.sum(1).cpu()"
_MADE = (
    ("Dense", "in_features=16, out_features=8", (_SENTENCE,), "$body({'sentence_embedding': embedding})['sentence_embedding']"),
    ("LayerNorm", "16", (_SENTENCE,), "$body({'sentence_embedding': embedding})['sentence_embedding']"),
    ("Normalize", "", (_SENTENCE,), "$body({'sentence_embedding': embedding})['sentence_embedding']"),
    ("Pooling", "16, pooling_mode='mean'", (_TOKENS, _MASK), f"$body({{{_GIVEN}}})['sentence_embedding']"),
    ("Pooling", "16, pooling_mode='weightedmean'", (_TOKENS, _MASK), f"$body({{{_GIVEN}}})['sentence_embedding']"),
    ("Pooling", "16, pooling_mode='max'", (_TOKENS, _MASK), f"$body({{{_GIVEN}}})['sentence_embedding']"),
    ("LSTM", "16, 8", (_TOKENS, _MASK), f"$body({{{_GIVEN}}})['token_embeddings']"),
    ("CNN", "16, 8", (_TOKENS, _MASK), f"$body({{{_GIVEN}}})['token_embeddings']"),
)  # fmt: skip


def pieces(rng: Random) -> Iterator[Piece]:
    """Each module of the list once."""
    try:
        from sentence_transformers import models
    except ImportError:
        return
    made = [one for one in _MADE if hasattr(models, one[0])]
    rng.shuffle(made)
    for name, given, fields, call in made:
        imports = (f"from sentence_transformers.models import {name}",)
        family = f"st-{name.lower()}"
        yield Piece("sentence_transformers", family, name, imports, f"{name}({given})", fields, call)
