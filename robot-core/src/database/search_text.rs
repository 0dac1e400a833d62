//! Searches. What a search compares without case and diacritics is stored in each row, so that folding exists in
//! this program only. A row of another program has none of it: it is compared here, until it is added to the
//! search index.

use std::borrow::Cow;

use diesel::QueryResult;

use super::{
    conditions::has_id_of,
    dialect::Dialect,
    fragment::Fragment,
    rewrite,
    schema::ROBOT,
    statements::{UNINDEXED, select},
};
use crate::catalogue::{Filter, Room};

/// The number of robots that are compared together. Fewer, and a search takes more statements while many wait; more,
/// and it takes more memory.
const PAGE: usize = 256;

/// The texts of a filter.
pub(super) struct TextSearch<'a> {
    /// The text that names contain; empty if all do.
    text: Cow<'a, str>,
    filter: &'a Filter,
    /// The ids of the robots that meet the condition, and of which the search index has nothing that is up to date.
    pub(super) unindexed: Vec<i64>,
    /// The least id of the robots whose search texts may be those of an earlier definition.
    outdated_from: Option<i64>,
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
        let (mut unindexed, mut outdated_from) = (Vec::new(), None);
        if is_folded(filter) {
            // Only words are compared with the texts of fields.
            if !filter.words().is_empty() {
                outdated_from = rewrite::next(connection).await?;
            }
            unindexed = matching(connection, filter, Fragment::new(UNINDEXED)).await?;
            if let Some(first) = outdated_from {
                let is_outdated = Fragment::new("robots.search_text IS NOT NULL AND robots.id >= ");
                let is_outdated = is_outdated.number(first);
                unindexed.extend(matching(connection, filter, is_outdated).await?);
            }
        }
        Ok(Some(Self {
            text,
            filter,
            unindexed,
            outdated_from,
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
        let condition = match self.outdated_from {
            Some(first) => condition.and(Fragment::new("robots.id < ").number(first)),
            None => condition,
        };
        match &self.unindexed[..] {
            [] => condition,
            ids => condition.or(has_id(ids)),
        }
    }
}

/// The ids of the robots with a condition that meet a filter. The robots are read in pages, so that many that wait take
/// little memory.
async fn matching<C: Dialect>(
    connection: &mut C,
    filter: &Filter,
    condition: Fragment<'_>,
) -> QueryResult<Vec<i64>> {
    let ids = select("robots.id", Some(condition));
    let all = connection.numbers(ids).await?;
    let (matcher, mut ids) = (filter.matcher(), Vec::new());
    for page in all.chunks(PAGE) {
        let query = select(ROBOT, Some(has_id_of(page)));
        let room = &mut Room::of_robots(usize::MAX);
        let robots = connection.robots(query, room).await?;
        let matching = robots.iter().filter(|robot| matcher.matches(robot));
        ids.extend(matching.map(|robot| robot.id().get()));
    }
    Ok(ids)
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
