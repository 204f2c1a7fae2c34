//! The macros, as users see them.

mod compile_fail;
mod derive;
mod literal;
mod tool;
mod toolbox;
