# cause: cross-shard-op
# spot: rows.rest[0]
# name: rows.rest[0]
# beside: return dataclasses.replace(self, seen=self.seen.to(place))
import dataclasses

import torch


@dataclasses.dataclass
class Rows:
    seen: torch.Tensor
    rest: torch.Tensor | None = None

    def sent(self, place):
        return dataclasses.replace(self, seen=self.seen.to(place))


def end(rows, found):
    return found + rows.rest[0].to(device)
