//! Checks on the repository itself. All of them are tests: see `tests/`.
