"""What speaks against a patch: its text beside the file as it was (`readers`), and what its run left
behind (`guards`)."""
