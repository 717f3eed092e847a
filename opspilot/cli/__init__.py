"""The command line's parts: what a terminal, a pipe and a person are shown and asked. `starter.py` joins them."""
