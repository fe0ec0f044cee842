"""What speaks against a patch: its text beside the file as it was (`static_checks`), and what its run left
behind (`differential`)."""
