import torch
from survey import Survey


def test_sure_respondents_are_kept():
    answers = torch.randint(5, (10, 3))
    survey = Survey(answers, groups=4)
    logits = torch.randn(10, 4, device="cuda") * 5
    kept, groups = survey.split(logits, threshold=0.5)
    assert len(kept) == len(groups) > 0
