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
_TELLING = lazy(
    r"device[_ ]?map|offload|\bmeta device\b|dispatch|world[_ ]size|local[_ -]?rank|nproc[_-]per"
    r"|CUDA_VISIBLE_DEVICES|torchrun|accelerate launch|deepspeed|num_processes|distributed[_ ]type|\bZeRO\b"
    r"|zero_(?:optimization|stage)|FSDP|DataParallel|no_split|balanced|[Ww]arning: .*(?:device|cuda|cpu)"
    r"|(?:different|wrong|same|which|on|using|use|to) (?:the )?device|\bcuda:\d|n_gpu|device_ids"
    r"|load_in_[48]bit|bitsandbytes|quantiz|\b(?:torch|transformers|accelerate|peft|deepspeed|diffusers)"
    r"(?:==| ?version| \d+\.\d)|[Vv]ersion of |Python 3|lowvram|medvram|low[_ ]vram|CUDA[_ ]VERSION"
    r"|\bresum(?:e|ed|ing)\b|(?:load|restor)\w* (?:from )?(?:the )?(?:checkpoint|ckpt)|=> ?loaded",
    re.IGNORECASE,
)
_HINTS = (
    "devic", "offload", "cuda", "meta", "dispatch", "world", "rank", "nproc", "torchrun", "launch",
    "deepspeed", "process", "zero", "fsdp", "parallel", "split", "balanced", "gpu", "bit", "quanti",
    "version", "torch", "transformers", "accelerate", "peft", "diffusers", "python", "vram",
    "resum", "checkpoint", "ckpt", "loaded",
)  # fmt: skip


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
