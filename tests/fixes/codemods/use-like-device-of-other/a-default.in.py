# cause: hardcoded-device
# spot: "cuda:3"
# devices: ;
from dataclasses import dataclass


@dataclass
class Settings:
    device: str = "cuda:3"
    rows: int = 4
