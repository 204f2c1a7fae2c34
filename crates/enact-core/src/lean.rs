//! What logs leave out: a value that is as usual need not be written down.

/// Whether a value is the usual one of its type.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The usual count of what happens at least once.
pub(crate) fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// Whether a count is the usual one.
pub(crate) fn is_one<T: From<u8> + PartialEq>(count: &T) -> bool {
    *count == one()
}
