//! enact-macros
