"""The pure core: what a run is, what comes next, and what may never happen. No I/O, clock, randomness or Temporal."""
