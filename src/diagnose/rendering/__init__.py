"""A Diagnosis as text for people, as JSON for tools, as Markdown for issue threads."""
