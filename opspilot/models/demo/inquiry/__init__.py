"""Questions that rows of data answer: which tool to ask, with what, and what the rows say."""
