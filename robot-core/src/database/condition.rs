//! Conditions that robots meet, as SQL with values.

use std::borrow::Cow;

use diesel::{
    AppearsOnTable, Expression, QueryResult,
    backend::Backend,
    expression::{ValidGrouping, is_aggregate},
    query_builder::{AstPass, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{BigInt, Bool, HasSqlType, Text},
};

/// A condition on the table of robots.
pub(super) struct Condition<'a> {
    parts: Vec<Part<'a>>,
    is_cached: bool,
}

enum Part<'a> {
    Sql(Cow<'static, str>),
    Text(Cow<'a, str>),
    Number(i64),
}

impl<'a> Condition<'a> {
    pub(super) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            parts: vec![Part::Sql(sql.into())],
            is_cached: true,
        }
    }

    /// Appends a text as a value.
    pub(super) fn text(self, text: impl Into<Cow<'a, str>>) -> Self {
        self.with(Part::Text(text.into()))
    }

    /// Appends a number as a value.
    pub(super) fn number(self, number: i64) -> Self {
        self.with(Part::Number(number))
    }

    /// Appends SQL.
    pub(super) fn sql(self, sql: &'static str) -> Self {
        self.with(Part::Sql(sql.into()))
    }

    /// The statement is planned for these values, and not kept.
    pub(super) fn uncached(mut self) -> Self {
        self.is_cached = false;
        self
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.joined(" AND ", other)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.joined(" OR ", other)
    }

    fn with(mut self, part: Part<'a>) -> Self {
        self.parts.push(part);
        self
    }

    fn joined(self, operator: &'static str, other: Self) -> Self {
        let mut joined = Self::new("(");
        joined.is_cached = self.is_cached && other.is_cached;
        joined.parts.extend(self.parts);
        joined = joined.sql(operator);
        joined.parts.extend(other.parts);
        joined.sql(")")
    }
}

impl Expression for Condition<'_> {
    type SqlType = Bool;
}

impl<T> AppearsOnTable<T> for Condition<'_> {}

impl<G> ValidGrouping<G> for Condition<'_> {
    type IsAggregate = is_aggregate::Never;
}

impl QueryId for Condition<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<B> QueryFragment<B> for Condition<'_>
where
    B: Backend + HasSqlType<BigInt> + HasSqlType<Text>,
    i64: ToSql<BigInt, B>,
    str: ToSql<Text, B>,
{
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, B>) -> QueryResult<()> {
        if !self.is_cached {
            pass.unsafe_to_cache_prepared();
        }
        for part in &self.parts {
            match part {
                Part::Sql(sql) => pass.push_sql(sql),
                Part::Text(text) => pass.push_bind_param::<Text, str>(text)?,
                Part::Number(number) => pass.push_bind_param::<BigInt, _>(number)?,
            }
        }
        Ok(())
    }
}
