"""Lines of the log around a failure that say something about placement."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from diagnose.model import Line
from diagnose.parsing.lines import Peeled
from diagnose.patterns import lazy

_MOST = 200
_LONGEST = 500
#: What a telling line says, each with texts of which it holds one, in lower case: most lines hold none, and
#: are not searched.
TELLING = (
    (r"device[_ ]?map|device_ids", ("device",)),
    (r"(?:different|wrong|same|which|on|using|use|to) (?:the )?device", ("device",)),
    (r"offload", ("offload",)),
    (r"\bmeta device\b", ("meta",)),
    (r"dispatch", ("dispatch",)),
    (r"world[_ ]size|local[_ -]?rank|nproc[_-]per", ("world", "rank", "nproc")),
    (r"torchrun|accelerate launch|deepspeed", ("torchrun", "launch", "deepspeed")),
    (r"num_processes|distributed[_ ]type", ("process", "distributed")),
    (r"\bZeRO\b|zero_(?:optimization|stage)", ("zero",)),
    (r"FSDP|DataParallel|no_split|balanced", ("fsdp", "parallel", "split", "balanced")),
    (r"warning: .*(?:device|cuda|cpu)", ("warning",)),
    (r"CUDA_VISIBLE_DEVICES|\bcuda:\d|CUDA[_ ]VERSION|n_gpu", ("cuda", "gpu")),
    (r"load_in_[48]bit|bitsandbytes|quantiz", ("bit", "quanti")),
    (
        r"\b(?:torch|transformers|accelerate|peft|deepspeed|diffusers)(?:==| ?version| \d+\.\d)",
        ("torch", "transformers", "accelerate", "peft", "deepspeed", "diffusers"),
    ),
    (r"version of |Python 3", ("version", "python")),
    (r"lowvram|medvram|low[_ ]vram|\bloaded partially\b", ("vram", "partially")),
    (r"`Trainer\.fit` stopped", ("trainer.fit",)),
    (r"\bresum(?:e|ed|ing)\b|=> ?loaded", ("resum", "loaded")),
    (r"(?:load|restor)\w* (?:from )?(?:the )?checkpoint", ("checkpoint",)),
    (r"(?:load|restor)\w* (?:from )?(?:the )?ckpt", ("ckpt",)),
)
_TELLING = lazy("|".join(pattern for pattern, _ in TELLING), re.IGNORECASE)
_HINTS = tuple(dict.fromkeys(hint for _, hints in TELLING for hint in hints))


def telling(lines: Iterable[Peeled], used: set[int]) -> tuple[Line, ...]:
    """The lines that speak of devices, sharding, launchers or versions; ``used`` belong to tracebacks."""
    kept: list[Line] = []
    seen: set[str] = set()
    for line in lines:
        if line.number in used or len(kept) >= _MOST:
            continue
        text = line.text[:_LONGEST].strip()
        if text not in seen and _tells(text):
            seen.add(text)
            kept.append(Line(line.number, text))
    return tuple(kept)


@lru_cache(maxsize=4096)
def _tells(text: str) -> bool:
    """A log with many failures is read for each of them."""
    lowered = text.lower()
    return any(hint in lowered for hint in _HINTS) and _TELLING.search(text) is not None
