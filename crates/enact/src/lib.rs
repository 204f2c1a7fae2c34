//! enact
