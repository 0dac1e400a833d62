//! Queries of lists and of their pages, read from parameters.

use std::borrow::Cow;

use crate::{
    catalogue::{Cursor, Filter, Sort},
    http::{behaviour::Behaviour, failure::Failure, parameters::Arguments},
    model::{Definition, Field},
};

use super::filter::filter;

/// The fields that a query names, in its order.
pub(crate) fn fields(
    arguments: &Arguments,
    definition: &Definition,
) -> Result<Option<Vec<Field>>, Failure> {
    arguments.parse("fields", |names| definition.list(names))
}

/// The fields of a robot in a reply: by default those of the contract, and all at `/v1`.
pub(crate) fn view(
    named: Option<Vec<Field>>,
    definition: &Definition,
    behaviour: Behaviour,
) -> Cow<'static, [Field]> {
    match named {
        Some(fields) => fields.into(),
        None if behaviour.is_contract() => Field::DEFAULT_VIEW.into(),
        None => definition.all().to_vec().into(),
    }
}

/// The query of a list or of one page of it.
pub(crate) struct ListQuery {
    /// The fields that the query names, in its order.
    pub(crate) fields: Option<Vec<Field>>,
    /// The maximum number of robots; makes the reply a single page.
    pub(crate) limit: Option<usize>,
    /// Which robots, a text in the path included.
    pub(crate) filter: Filter,
    /// Whether that text is in the path.
    pub(super) is_search: bool,
    /// Whether the reply has the number of all robots.
    pub(crate) has_count: bool,
    /// The order, and where the list starts.
    pub(crate) cursor: Cursor,
    /// The order that the query, or its cursor, has.
    pub(super) sort: Option<Sort>,
}

impl ListQuery {
    pub(crate) fn read(
        arguments: &Arguments,
        definition: &Definition,
        behaviour: Behaviour,
    ) -> Result<Self, Failure> {
        let fields = fields(arguments, definition)?;
        let limit = arguments.limit()?;
        let by_name = Cursor::default().resolved(definition).sort().clone();
        let given = arguments.parse("sort", |text| Sort::parse(text, definition))?;
        let cursor = arguments.parse("cursor", |text| Cursor::parse(text, definition))?;
        let of_cursor = || cursor.as_ref().map(|cursor| cursor.sort().clone());
        let named_sort = given.clone().or_else(of_cursor);
        let sort = given.unwrap_or_else(|| by_name.clone());
        let cursor = match (arguments.text("after"), cursor) {
            (Some(_), Some(_)) => Err("after and cursor exclude each other; give one of them"),
            (Some(_), None) if sort != by_name => {
                Err("after needs the order of the names; use cursor, as in the header Link")
            }
            // The definition decides whether the next page can start after a name, too.
            (Some(after), None) => Ok(Cursor::after_name(after).sorted(by_name)),
            (None, Some(cursor)) if *cursor.sort() != sort => {
                Err("cursor belongs to another sort; give the sort of the page that it comes from")
            }
            (None, Some(cursor)) => Ok(cursor),
            (None, None) => Ok(Cursor::start(sort)),
        };
        Ok(Self {
            fields,
            limit: limit.or(behaviour.default_limit()),
            filter: filter(arguments, definition)?,
            is_search: false,
            has_count: arguments.flag("count")?,
            cursor: cursor.map_err(Failure::malformed)?,
            sort: named_sort,
        })
    }

    /// The query of a search for the robots whose name contains a text.
    pub(crate) fn containing(mut self, text: &str) -> Self {
        self.filter = self.filter.containing(text);
        self.is_search = true;
        self
    }
}
