class Survey:
    """Answers of a survey (host memory) and how sure a model is of each respondent's group."""

    def __init__(self, answers, groups):
        self.answers, self.groups = answers, groups

    def split(self, logits, threshold):
        confidence, group = logits.softmax(dim=1).max(dim=1)
        keep = confidence > threshold
        return self.answers[keep], group[keep]
