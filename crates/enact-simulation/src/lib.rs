//! A toy engine for enact, and the simulation of runs that crash on it: see `tests/`.
