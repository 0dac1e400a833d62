//! Searches. What a search compares without case and diacritics is stored in each row, so that folding exists in
//! this program only. A row of another program has none of it: it is compared here, until it is added to the
//! search index.

use std::borrow::Cow;

use diesel::QueryResult;

use super::{dialect::Dialect, fragment::Fragment, statements};
use crate::catalogue::Filter;

/// The texts of a filter.
pub(super) struct TextSearch<'a> {
    /// The text that names contain; empty if all do.
    text: Cow<'a, str>,
    filter: &'a Filter,
    /// The ids of the robots without a search text that meet the condition; `None` if names are compared as
    /// they are, and there are no words.
    unindexed: Option<Vec<i64>>,
}

impl<'a> TextSearch<'a> {
    /// `None` if every robot meets the conditions. The statement of the condition must see the same snapshot
    /// of the database.
    pub(super) async fn new<C: Dialect>(
        connection: &mut C,
        filter: &'a Filter,
    ) -> QueryResult<Option<Self>> {
        let text = filter.text();
        if text.is_empty() && filter.words().is_empty() {
            return Ok(None);
        }
        let mut unindexed = None;
        if is_folded(filter) {
            let matcher = filter.matcher();
            let robots = statements::unindexed(connection, i64::MAX).await?;
            let matching = robots.iter().filter(|robot| matcher.matches(robot));
            unindexed = Some(matching.map(|robot| robot.id().get()).collect());
        }
        Ok(Some(Self {
            text,
            filter,
            unindexed,
        }))
    }

    /// A folded text that the search index has for every robot that meets the condition.
    pub(super) fn folded(&self) -> Cow<'_, str> {
        let longest = self.filter.words().iter().max_by_key(|word| word.len());
        match longest {
            Some(word) if self.text.is_empty() => Cow::Borrowed(word),
            _ => crate::model::fold(&self.text),
        }
    }

    pub(super) fn condition<C: Dialect>(&self) -> Fragment<'_> {
        let name = (!self.text.is_empty()).then(|| {
            if self.filter.is_folded {
                C::search_text_contains(&self.text)
            } else {
                C::name_contains(&self.text)
            }
        });
        let words = self.filter.words().iter();
        let words = words.map(|word| {
            let own_text = C::contains("coalesce(robots.own_text, '')", word);
            C::search_text_contains(word).or(own_text)
        });
        let conditions = name.into_iter().chain(words).reduce(Fragment::and);
        let condition = conditions.unwrap_or_else(|| Fragment::new("1 = 1"));
        match self.unindexed.as_deref() {
            None | Some([]) => condition,
            Some(ids) => condition.or(has_id(ids)),
        }
    }
}

/// Whether a search compares what only indexed rows have.
pub(super) fn is_folded(filter: &Filter) -> bool {
    filter.is_folded || !filter.words().is_empty()
}

/// The condition that the id of a robot is one of these.
fn has_id(ids: &[i64]) -> Fragment<'static> {
    let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
    Fragment::new(format!("robots.id IN ({})", ids.join(", "))).uncached()
}
