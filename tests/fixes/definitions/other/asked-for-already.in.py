# cause: low-memory-mode
# spot: self.mixer(heard)


class Keeper:
    kept = None

    def need(self, part):
        if self.kept is not None:
            self.kept.to("cpu")
        self.kept = part.to("cuda")
        return part


class Room:
    def __init__(self, keeper, parts):
        self.keeper = keeper
        self.ear, self.mixer = parts

    def hear(self, tone):
        self.keeper.need(self.mixer)
        heard = self.keeper.need(self.ear)(tone)
        return heard + 0.1 * self.mixer(heard)  # quietly
