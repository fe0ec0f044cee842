"""The programs have tests of their own, which fail on purpose."""

collect_ignore = ["programs"]
