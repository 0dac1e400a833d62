//! Searches. The search text of a row is its folded name, so that folding exists in this program only. A row
//! of another program has none: it is compared here, until it is added to the search index.

use std::borrow::Cow;

use diesel::QueryResult;

use super::{fragment::Fragment, statements::Statements};
use crate::{catalogue::Filter, model::fold};

/// The text of a filter.
pub(super) struct TextSearch<'a> {
    text: Cow<'a, str>,
    /// The ids of the robots without a search text that meet the condition; `None` if names are compared as
    /// they are.
    folded: Option<Vec<i64>>,
}

impl<'a> TextSearch<'a> {
    /// `None` if every name contains the text. The statement of the condition must see the same snapshot
    /// of the database.
    pub(super) async fn new<C: Statements>(
        connection: &mut C,
        filter: &'a Filter,
    ) -> QueryResult<Option<Self>> {
        let containing = filter.get_containing();
        if !filter.is_folded() {
            let text = Cow::Borrowed(containing);
            return Ok((!containing.is_empty()).then_some(Self { text, folded: None }));
        }
        let text = fold(containing);
        if text.is_empty() {
            return Ok(None);
        }
        let unindexed = connection.unindexed(i64::MAX).await?.into_iter();
        let matching = unindexed.filter(|(_, name)| fold(name).contains(&*text));
        let folded = Some(matching.map(|(id, _)| id).collect());
        Ok(Some(Self { text, folded }))
    }

    /// The text, folded: it is contained in the search text of every robot that meets the condition.
    #[cfg(feature = "sqlite")]
    pub(super) fn folded(&self) -> Cow<'_, str> {
        fold(&self.text)
    }

    pub(super) fn condition<C: Statements>(&self) -> Fragment<'_> {
        match &self.folded {
            None => C::name_contains(&self.text),
            Some(ids) => C::search_text_contains(&self.text, ids),
        }
    }
}

/// The condition that the id of a robot is one of these.
pub(super) fn has_id(ids: &[i64]) -> Fragment<'static> {
    let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
    Fragment::new(format!("robots.id IN ({})", ids.join(", "))).uncached()
}
