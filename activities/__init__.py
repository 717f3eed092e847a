"""Activities: everything that touches the world, behind injected ports."""
