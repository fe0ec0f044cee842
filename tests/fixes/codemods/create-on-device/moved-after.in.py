# spot: nn.Linear(4, 2).cuda()
head = nn.Linear(4, 2).cuda()
