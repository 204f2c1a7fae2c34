//! What logs leave out: default values are not written.

/// Whether a value is the default of its type.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The default count of something that happens at least once.
pub(crate) fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// Whether a count is the default.
pub(crate) fn is_one<T: From<u8> + PartialEq>(count: &T) -> bool {
    *count == one()
}
