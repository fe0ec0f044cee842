pass  # model stays where it was loaded
