"""Questions about whatever the tools return: results become tables, tables are joined, and the best reading is told."""
