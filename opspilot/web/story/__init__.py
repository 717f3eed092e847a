"""A session as a story: its entries folded into what a page shows, and what each new entry changes in it."""
