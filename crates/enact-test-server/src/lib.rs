//! enact-test-server
