//! The named types of an agent file.

use enact::Type;
use enact::signature::{Property, SignatureError, Types};
use indexmap::IndexMap;

use super::check::Check;
use super::file::{PropertyEntry, TypeEntry};
use super::problem::Problem;
use super::source::below;

/// The entries of `[types]`, in any order.
type Entries = IndexMap<String, TypeEntry>;

impl Check<'_> {
    /// The types of the file. An invalid one becomes `any`, so that the rest can be checked.
    pub(super) fn types(&mut self, entries: &Entries) -> Types {
        let mut types = Types::new();
        let mut open: Vec<(&String, &TypeEntry)> = Vec::new();
        for (name, entry) in entries {
            match Type::check_name(name) {
                Ok(()) => open.push((name, entry)),
                Err(error) => self.wrong_key(&below("/types", name), error.message()),
            }
        }
        // A type can precede the types that it refers to.
        loop {
            let before = open.len();
            open.retain(|(name, entry)| match self.named(name, entry, &types) {
                Ok(ty) => types.insert((*name).clone(), ty).is_some(),
                Err(_) => true,
            });
            if open.len() == before {
                break;
            }
        }
        for (name, _) in &open {
            types.insert((*name).clone(), Type::Any);
        }
        let mut circular: Vec<(&String, &TypeEntry)> = Vec::new();
        for (name, entry) in open {
            match self.named(name, entry, &types) {
                Ok(_) => circular.push((name, entry)),
                Err(problems) => self.problems.extend(problems),
            }
        }
        for (name, _) in &circular {
            if self.leads_to(name, name, &circular, &types) {
                let message = format!(
                    "the type `{name}` contains itself, which types cannot: use `dict` or `any` for \
                     the inner one"
                );
                self.wrong_key(&below("/types", name), message);
            }
        }
        types
    }

    /// Whether a type refers to another, directly or through others.
    fn leads_to(
        &self,
        from: &str,
        target: &str,
        among: &[(&String, &TypeEntry)],
        types: &Types,
    ) -> bool {
        let (mut open, mut seen) = (vec![from], Vec::new());
        while let Some(name) = open.pop() {
            let Some((_, entry)) = among.iter().find(|(known, _)| known.as_str() == name) else {
                continue;
            };
            for (other, _) in among {
                let mut without = types.clone();
                without.remove(other.as_str());
                if self.named(name, entry, &without).is_ok() {
                    continue;
                }
                if other.as_str() == target {
                    return true;
                }
                if !seen.contains(&other.as_str()) {
                    seen.push(other.as_str());
                    open.push(other.as_str());
                }
            }
        }
        false
    }

    fn named(&self, name: &str, entry: &TypeEntry, types: &Types) -> Result<Type, Vec<Problem>> {
        let at = below("/types", name);
        let properties = match entry {
            TypeEntry::Type(text) => return self.ty(&at, text, types).map_err(|one| vec![one]),
            TypeEntry::Object(properties) => properties,
        };
        let (mut read, mut problems) = (Vec::new(), Vec::new());
        for (key, entry) in properties {
            let at = below(&at, key);
            let (at, text, description) = match entry {
                PropertyEntry::Type(text) => (at, Some(text), None),
                PropertyEntry::Whole(whole) => (
                    below(&at, "type"),
                    whole.kind.as_ref(),
                    whole.description.as_ref(),
                ),
            };
            let ty = match text.map_or(Ok(Type::Str), |text| self.ty(&at, text, types)) {
                Ok(ty) => ty,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            let mut property = match key.strip_suffix('?') {
                Some(name) => Property::new(name, Type::optional(ty)),
                None => Property::new(key, ty),
            };
            property.description = description.cloned();
            read.push(property);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Type::object(read).map_err(|error| vec![self.source.at_key(&at, error.message())])
    }

    /// Parses the type in a text of the file.
    pub(super) fn ty(&self, pointer: &str, text: &str, types: &Types) -> Result<Type, Problem> {
        Type::parse_with(text, types)
            .map_err(|error| self.within(pointer, &error, error.message().to_owned()))
    }

    /// A problem with a text, from one of its columns on.
    pub(super) fn within(&self, pointer: &str, error: &SignatureError, message: String) -> Problem {
        let column = error.column().unwrap_or(1);
        self.source.within(pointer, column - 1, message)
    }
}
