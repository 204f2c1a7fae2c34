//! enact-signature
