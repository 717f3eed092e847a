"""Reading a service catalogue: entities, and the search over them."""
