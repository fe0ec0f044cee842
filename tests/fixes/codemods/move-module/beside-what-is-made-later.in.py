# spot: teacher.to(gpu)
# cause: module-not-moved
# name: student
# owner: student
def distill(gpu):
    teacher = Net()
    teacher.to(gpu)
    student = Net()
    return teacher, student
