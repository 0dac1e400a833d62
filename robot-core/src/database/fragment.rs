//! SQL with values: conditions, statements and queries.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    marker::PhantomData,
    mem,
    sync::Mutex,
};

use diesel::{
    QueryResult,
    backend::Backend,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    result::Error as DieselError,
    serialize::ToSql,
    sql_types::{BigInt, HasSqlType, Nullable, Text},
};
use serde::Serialize;

use super::locks::lock;

/// The maximum number of statements with endless variants that a connection keeps prepared. Higher, and all connections
/// may reach the limit of a server (16,382 on MariaDB); lower, and more lists are planned each time.
const KEPT_LIMIT: usize = 256;

/// The hashes of these statements: the first ones that the process executes.
static KEPT: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// SQL with values.
#[derive(Clone)]
pub(super) struct Fragment<'a> {
    parts: Vec<Token<'a>>,
    is_cached: bool,
}

#[derive(Clone)]
enum Token<'a> {
    Sql(Cow<'static, str>),
    Text(Cow<'a, str>),
    Number(i64),
    Null,
}

impl<'a> Fragment<'a> {
    pub(super) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        let empty = Self {
            // Enough for most fragments, so that they do not grow.
            parts: Vec::with_capacity(8),
            is_cached: true,
        };
        empty.sql(sql)
    }

    /// Appends a text as a value.
    pub(super) fn text(self, text: impl Into<Cow<'a, str>>) -> Self {
        self.with(Token::Text(text.into()))
    }

    /// Appends a text, or NULL, as a value.
    pub(super) fn text_or_null(self, text: Option<impl Into<Cow<'a, str>>>) -> Self {
        match text {
            Some(text) => self.text(text),
            None => self.with(Token::Null),
        }
    }

    /// Appends a number as a value.
    pub(super) fn number(self, number: i64) -> Self {
        self.with(Token::Number(number))
    }

    /// Appends a number, or NULL, as a value.
    pub(super) fn number_or_null(self, number: Option<i64>) -> Self {
        self.with(number.map_or(Token::Null, Token::Number))
    }

    /// Appends a LIMIT.
    pub(super) fn limit(self, rows: usize) -> Self {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        self.sql(" LIMIT ").number(rows)
    }

    /// Appends SQL.
    pub(super) fn sql(self, sql: impl Into<Cow<'static, str>>) -> Self {
        self.with(Token::Sql(sql.into()))
    }

    /// The statement is planned for these values, and not kept.
    pub(super) fn uncached(mut self) -> Self {
        self.is_cached = false;
        self
    }

    /// Appends another fragment.
    pub(super) fn then(mut self, other: Self) -> Self {
        self.is_cached &= other.is_cached;
        self.parts.extend(other.parts);
        self
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.joined(" AND ", other)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.joined(" OR ", other)
    }

    /// Not to be kept, if too many such statements are kept already: for statements with endless variants.
    pub(super) fn limited(self) -> Self {
        if !self.is_cached {
            return self;
        }
        let mut hasher = DefaultHasher::new();
        for part in &self.parts {
            match part {
                Token::Sql(sql) => sql.hash(&mut hasher),
                _ => mem::discriminant(part).hash(&mut hasher),
            }
        }
        let (hash, mut kept) = (hasher.finish(), lock(&KEPT));
        if kept.contains(&hash) || kept.len() < KEPT_LIMIT && kept.insert(hash) {
            self
        } else {
            self.uncached()
        }
    }

    fn with(mut self, part: Token<'a>) -> Self {
        self.parts.push(part);
        self
    }

    fn joined(self, operator: &'static str, other: Self) -> Self {
        Self::new("(").then(self).sql(operator).then(other).sql(")")
    }
}

impl<B> QueryFragment<B> for Fragment<'_>
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
                Token::Sql(sql) => pass.push_sql(sql),
                Token::Text(text) => pass.push_bind_param::<Text, str>(text)?,
                Token::Number(number) => pass.push_bind_param::<BigInt, _>(number)?,
                Token::Null => pass.push_bind_param::<Nullable<Text>, _>(&None::<&'static str>)?,
            }
        }
        Ok(())
    }
}

/// A query whose rows have this type of SQL.
pub(super) struct Rows<'a, T>(Fragment<'a>, PhantomData<T>);

impl<'a, T> Rows<'a, T> {
    pub(super) fn of(query: Fragment<'a>) -> Self {
        Self(query, PhantomData)
    }
}

impl<T> QueryId for Rows<'_, T> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<T> Query for Rows<'_, T> {
    type SqlType = T;
}

#[cfg(feature = "sqlite")]
impl<T> diesel::RunQueryDsl<diesel::SqliteConnection> for Rows<'_, T> {}

impl<T, B: Backend> QueryFragment<B> for Rows<'_, T>
where
    for<'a> Fragment<'a>: QueryFragment<B>,
{
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, B>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }
}

/// A value as JSON. With its rows as JSON, a statement is the same for any number of rows, and is prepared once.
pub(super) fn json(value: &impl Serialize) -> QueryResult<String> {
    serde_json::to_string(value).map_err(|error| DieselError::SerializationError(error.into()))
}
