"""Reading logs: files, lines, formats, levels, shapes, and the search over them."""
