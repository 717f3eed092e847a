"""The web UI and its HTTP API: pages, live events and answers. `__main__` composes them; it is the only way in."""
