"""Reading documents: passages, words, and the full-text index over them."""
