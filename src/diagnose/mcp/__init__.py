"""diagnose for coding agents, over the Model Context Protocol: tools that answer, and what they link to."""
