# cause: input-not-moved
# spot: late = late.to(here)
# name: sank
# beside: late = late.to(here)
late, sank = tides(3)
late = late.to(here)
print(late, sank)
