# spot: self.rain = RainTable(4)
class Season:
    def __init__(self):
        self.rain = RainTable(4)
