# spot: parameter best
# wanted: cpu
# devices: self.books.device
class Shelf:
    def take(self, best):
        """The best ones."""
        best = best.to(self.books.device)
        return self.books[best], self.prices[best]
