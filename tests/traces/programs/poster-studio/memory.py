"""Where the parts of the pipeline are when memory is short."""

import logging

log = logging.getLogger("studio")


class LowVram:
    """Brings a part to the GPU when it runs and takes it back to the cpu afterwards."""

    def __init__(self, parts, device):
        self.parts, self.device = parts, device
        for part in parts.values():
            part.to("cpu")
            part.register_forward_pre_hook(self.bring)
            part.register_forward_hook(self.take_back)
        log.warning("--lowvram: %s stay on the cpu between steps", ", ".join(parts))

    def bring(self, part, args):
        part.to(self.device)

    def take_back(self, part, args, output):
        part.to("cpu")
