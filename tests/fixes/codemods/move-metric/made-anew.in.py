# cause: loss-or-metric-state
# name: self.rows
# spot: self.rain.clear()
def season(self, days):
    self.rain.clear()
    for day in days:
        self.rain.add(day.to(device))
