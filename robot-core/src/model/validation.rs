//! Checks of drafts and changes by a definition.

use super::{
    definition::Definition,
    draft::{Draft, Rejection},
    field::Field,
    robot::Robot,
    valid::{ValidChanges, ValidDraft},
};

impl Definition {
    /// Checks a draft against every rule but uniqueness.
    ///
    /// # Errors
    /// All rules that it violates.
    pub fn validate(&self, draft: Draft) -> Result<ValidDraft, Rejection> {
        let checked = draft.check(self, |_| true);
        let (draft, _) = checked.map_err(|rejection| rejection.replacing(self))?;
        Ok(ValidDraft {
            draft,
            checked_by: Some(self.identity()),
        })
    }

    /// Checks the values of a patch of a robot that differ from its present ones. A value that violates a newer rule can
    /// stay.
    ///
    /// # Errors
    /// All rules that the other values violate.
    pub(crate) fn validate_change(
        &self,
        robot: &Robot,
        mut draft: Draft,
        removed: &[Field],
    ) -> Result<ValidChanges, Rejection> {
        for field in self.settable() {
            if draft.value(field) == robot.value_of(field) {
                draft.clear(field);
            }
        }
        let removed = removed.iter().cloned();
        let removed: Vec<_> = removed
            .filter(|field| robot.value_of(field).is_some())
            .collect();
        self.validate_patch(draft, &removed)
    }

    /// Checks the values of a patch against every rule but uniqueness. It removes values of some fields,
    /// which required fields do not permit. All others keep their value.
    ///
    /// # Errors
    /// All rules that it violates.
    pub fn validate_patch(
        &self,
        draft: Draft,
        removed: &[Field],
    ) -> Result<ValidChanges, Rejection> {
        let checked = draft.check(self, |field| {
            removed.iter().any(|removed| removed.is(field))
        });
        let (draft, cleared) = checked.map_err(|rejection| Rejection {
            removed: removed.to_vec(),
            ..rejection
        })?;
        let removed = removed.iter().filter(|field| draft.value(field).is_none());
        Ok(ValidChanges {
            removed: removed.cloned().chain(cleared).collect(),
            draft,
            replaces_own: false,
            checked_by: Some(self.identity()),
        })
    }
}

impl Rejection {
    /// The same rejection of a draft that replaces all values.
    fn replacing(self, definition: &Definition) -> Self {
        let fields = definition.settable().iter();
        let removed = fields.filter(|field| self.draft.value(field).is_none());
        Self {
            removed: removed.cloned().collect(),
            ..self
        }
    }

    /// The changes of a robot, if only values violate rules that it has already.
    pub(crate) fn changes_of(
        self,
        definition: &Definition,
        robot: &Robot,
    ) -> Result<ValidChanges, Self> {
        definition.validate_change(robot, *self.draft, &self.removed)
    }
}
