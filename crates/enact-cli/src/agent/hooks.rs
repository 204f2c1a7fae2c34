//! The hooks of an agent file.

use super::check::Check;
use super::source::below;
use crate::args::HookArgs;
use crate::hooks::Hooks;

impl Check<'_> {
    pub(super) fn hooks(&mut self, args: &HookArgs) -> Hooks {
        let folder = self.folder;
        Hooks::read(args, folder, |key, message| {
            self.wrong(&below("/hooks", key), message);
        })
    }
}
