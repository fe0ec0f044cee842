# spot: self.kept["start"]
# cause: dataparallel-replica-state
# devices: next(self.parameters()).device; frames.device
class Reader(nn.Module):
    def begin(self, start):
        self.kept.update(start=start)

    def forward(self, frames):
        state = self.kept["start"].expand(len(frames), -1)
        return self.cell(frames, state)
