//! Call ids, which are unique in a conversation.
//!
//! Providers match results to calls by id, and some reject a conversation with duplicate ids. Models
//! repeat ids, leave them empty, or use those that enact would choose; an earlier turn may come from
//! another adapter or another program.

use std::collections::HashSet;

use crate::adapter::ReadCall;
use crate::run::Entry;

/// Larger numbers in foreign ids don't affect ours.
const HIGHEST: u64 = 1 << 40;

/// The ids used in a conversation.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    used: HashSet<String>,
    /// All `call_N_…` so far have a smaller N.
    next: u64,
}

impl CallIds {
    /// The ids in the conversation before a run.
    pub(super) fn of_entries(entries: &[Entry]) -> Self {
        let mut ids = Self::default();
        for entry in entries {
            match entry {
                Entry::Assistant { calls, .. } => {
                    calls.iter().for_each(|call| ids.take(&call.id));
                }
                Entry::Outputs {
                    call_id: Some(id), ..
                } => ids.take(id),
                _ => {}
            }
        }
        ids
    }

    /// Adds a used id.
    pub(super) fn take(&mut self, id: &str) {
        if let Some(number) = number_of(id).filter(|number| *number < HIGHEST) {
            self.next = self.next.max(number + 1);
        }
        if !self.used.contains(id) {
            self.used.insert(id.to_owned());
        }
    }

    /// The ids for the calls of a reply: the provider's if they are new, otherwise ours.
    pub(super) fn assign(&self, calls: &[ReadCall]) -> Vec<String> {
        let mut taken = HashSet::new();
        let given: Vec<Option<String>> = calls
            .iter()
            .map(|call| {
                let id = call.id.as_deref().map(str::trim).filter(|id| {
                    !id.is_empty() && !self.used.contains(*id) && taken.insert((*id).to_owned())
                });
                id.map(str::to_owned)
            })
            .collect();
        let highest = taken.iter().filter_map(|id| number_of(id));
        let highest = highest.filter(|number| *number < HIGHEST).max();
        let mut number = self.next.max(highest.map_or(0, |number| number + 1));
        let ours = |number: u64, index: usize| format!("call_{number}_{index}");
        let is_used = |number| {
            let mut ids = (0..calls.len()).map(|index| ours(number, index));
            ids.any(|id| self.used.contains(&id) || taken.contains(&id))
        };
        // Only above the highest number.
        while is_used(number) {
            number += 1;
        }
        let ids = given.into_iter().enumerate();
        ids.map(|(index, given)| given.unwrap_or_else(|| ours(number, index)))
            .collect()
    }
}

/// The N of `call_N_…`.
fn number_of(id: &str) -> Option<u64> {
    let (number, _) = id.strip_prefix("call_")?.split_once('_')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::signature::Values;

    fn call(id: Option<&str>) -> ReadCall {
        ReadCall {
            id: id.map(str::to_owned),
            name: "t".to_owned(),
            args: Ok(Values::new()),
        }
    }

    fn id() -> impl Strategy<Value = Option<String>> {
        prop_oneof![
            Just(None),
            Just(Some(String::new())),
            Just(Some(" ".to_owned())),
            (0_u64..4, 0_u64..3).prop_map(|(n, m)| Some(format!("call_{n}_{m}"))),
            Just(Some("call_18446744073709551615_0".to_owned())),
            Just(Some("call_1099511627775_0".to_owned())),
            "[ab]{1,2}".prop_map(Some),
        ]
    }

    proptest! {
        #[test]
        fn no_id_stands_twice(replies in prop::collection::vec(prop::collection::vec(id(), 1..5), 1..8)) {
            let mut ids = CallIds::default();
            let mut seen = HashSet::new();
            for reply in &replies {
                let calls: Vec<_> = reply.iter().map(|id| call(id.as_deref())).collect();
                for id in ids.assign(&calls) {
                    ids.take(&id);
                    prop_assert!(!id.trim().is_empty());
                    prop_assert!(seen.insert(id.clone()), "{id} in {replies:?}");
                }
            }
        }
    }

    #[test]
    fn ids_that_are_new_are_kept() {
        let mut ids = CallIds::default();
        assert_eq!(
            ids.assign(&[call(Some("a")), call(None)]),
            ["a", "call_0_1"]
        );
        ids.take("a");
        ids.take("call_0_1");
        assert_eq!(
            ids.assign(&[call(Some("a")), call(Some("b"))]),
            ["call_1_0", "b"]
        );
    }
}
