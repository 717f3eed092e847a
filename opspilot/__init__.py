"""OpsPilot: a durable operations agent on Temporal."""
