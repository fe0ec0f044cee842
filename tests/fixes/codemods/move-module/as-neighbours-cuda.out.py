# spot: Teacher().eval()
# wanted: cuda:0
# devices: (
teacher = Teacher().eval().to("cuda")
student = Student().cuda()
x = torch.rand(2, 2).cuda()
