//! Filters, places and orders as SQL.

use std::borrow::Cow;

use super::{dialect::Dialect, fragment::Fragment};
use crate::{
    catalogue::{Cursor, FieldFilter, Filter, Place, Sort},
    model::{Definition, Field, Member, RobotId, Value, fold},
};

/// The SQL of a field's value.
pub(super) fn expression<C: Dialect>(field: &Field) -> Cow<'static, str> {
    match field.member() {
        Member::Id => "robots.id".into(),
        Member::Name => "robots.name".into(),
        Member::Type => "robots.type".into(),
        Member::Year => "robots.year".into(),
        Member::Revision => "robots.revision".into(),
        Member::CreatedAt => "robots.created_at".into(),
        Member::UpdatedAt => "robots.updated_at".into(),
        Member::UpdatedBy => "robots.updated_by".into(),
        Member::Own => C::own_value(field).into(),
    }
}

/// The conditions for fields of a filter.
pub(super) fn conditions<C: Dialect>(filter: &Filter) -> Option<Fragment<'static>> {
    let conditions = filter.fields.iter().flat_map(of_field::<C>);
    let conditions = conditions.reduce(Fragment::and)?;
    // There are endless combinations of own fields, of which a connection would keep a statement each.
    let values =
        |field: &FieldFilter| field.any_of.len() + field.none_of.len() + field.containing.len();
    let is_simple = match &*filter.fields {
        [field] => values(field) <= 1,
        fields => fields
            .iter()
            .all(|field| !field.field.is_own() && values(field) <= 4),
    };
    Some(if is_simple {
        conditions
    } else {
        conditions.uncached()
    })
}

/// The conditions for a field.
pub(super) fn of_field<C: Dialect>(filter: &FieldFilter) -> Vec<Fragment<'static>> {
    let sql = expression::<C>(&filter.field);
    let compared = |operator: &str, value: &Value<'_>| {
        let condition = Fragment::new(format!("{sql} {operator} "));
        with_value::<C>(condition, value)
    };
    let is = |condition: &str| Fragment::new(format!("{sql} {condition}"));
    let listed = |operator: &str, values: &[Option<Value<'_>>]| {
        // No value contains NUL, which PostgreSQL does not accept.
        let has_nul = |value: &Value<'_>| matches!(value, Value::Text(text) if text.contains('\0'));
        let values = values.iter().flatten().filter(|value| !has_nul(value));
        // Not by OR, whose nesting SQLite limits.
        let values = values.map(|value| with_value::<C>(Fragment::new(""), value));
        let values = values.reduce(|list, value| list.sql(", ").then(value));
        values.map(|values| is(&format!("{operator} (")).then(values).sql(")"))
    };
    let mut conditions = Vec::new();
    if !filter.any_of.is_empty() {
        let is_none = filter.any_of.contains(&None).then(|| is("IS NULL"));
        let any = listed("IN", &filter.any_of).into_iter().chain(is_none);
        let any = any.reduce(Fragment::or);
        conditions.push(any.unwrap_or_else(|| Fragment::new("1 = 0")));
    }
    let others = listed("NOT IN", &filter.none_of);
    if filter.none_of.contains(&None) {
        conditions.extend(others.into_iter().chain([is("IS NOT NULL")]));
    } else {
        conditions.extend(others.map(|others| others.or(is("IS NULL"))));
    }
    conditions.extend(filter.containing.iter().map(|text| match &*fold(text) {
        "" => is("IS NOT NULL"),
        folded if folded.contains('\0') => Fragment::new("1 = 0"),
        folded => C::folded_contains(&sql, folded),
    }));
    conditions.extend(filter.from.iter().map(|from| compared(">=", from)));
    conditions.extend(filter.to.iter().map(|to| compared("<=", to)));
    conditions
}

/// Appends a value.
fn with_value<C: Dialect>(condition: Fragment<'static>, value: &Value<'_>) -> Fragment<'static> {
    match value {
        Value::Text(text) => condition.text(text.clone().into_owned()),
        Value::Integer(integer) => condition.number(*integer),
        Value::Id(id) => condition.number(id.get()),
        Value::Timestamp(time) => condition.number(time.milliseconds()),
        Value::Boolean(boolean) => condition.sql(C::BOOLEANS[usize::from(*boolean)]),
        // Every server reads it as the number that it is.
        Value::Number(number) => condition.sql(format!("{number:e}")).uncached(),
    }
}

/// The parts of a list: robots without a value are last, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueGroup {
    /// Every robot has a value.
    All,
    WithValue,
    WithoutValue,
}

impl ValueGroup {
    /// The parts of a list that come after the place of a cursor.
    pub(super) fn after(present: &Definition, cursor: &Cursor, filter: &Filter) -> &'static [Self] {
        let field = &cursor.sort().field;
        let all_have = present.all_have(field);
        let excludes_none =
            |of_field: &FieldFilter| of_field.field.is(field) && of_field.excludes_none();
        let lists_none = !all_have && !filter.fields.iter().any(excludes_none);
        match cursor.place() {
            Some(Place { value: None, .. }) if lists_none => &[Self::WithoutValue],
            Some(Place { value: None, .. }) => &[],
            _ if all_have => &[Self::All],
            _ if !lists_none => &[Self::WithValue],
            _ => &[Self::WithValue, Self::WithoutValue],
        }
    }

    /// The condition that robots belong to the part, and come after the place of a cursor.
    pub(super) fn condition<C: Dialect>(self, cursor: &Cursor) -> Option<Fragment<'static>> {
        let Sort {
            field,
            is_descending,
        } = cursor.sort();
        let sql = expression::<C>(field);
        let (beyond, from) = if *is_descending {
            ("<", "<=")
        } else {
            (">", ">=")
        };
        let id_beyond = |id: i64| Fragment::new(format!("robots.id {beyond} ")).number(id);
        let place = cursor.place();
        let value = place.and_then(|place| place.value.as_ref());
        let id = place.and_then(|place| place.id).map(RobotId::get);
        match (self, value, id) {
            (Self::All, None, _) => None,
            (Self::WithoutValue, None, Some(id)) => {
                Some(Fragment::new(format!("{sql} IS NULL")).and(id_beyond(id)))
            }
            (Self::WithoutValue, ..) => Some(Fragment::new(format!("{sql} IS NULL"))),
            (Self::WithValue, None, _) => Some(Fragment::new(C::has_value(&sql, field))),
            (_, Some(value), id) => {
                let compared = |operator: &str| {
                    with_value::<C>(Fragment::new(format!("{sql} {operator} ")), value)
                };
                Some(match id {
                    Some(id) if field.has_equals() => {
                        compared(from).and(compared(beyond).or(id_beyond(id)))
                    }
                    _ => compared(beyond),
                })
            }
        }
    }
}

/// The ORDER BY of a list, within a part.
pub(super) fn order<C: Dialect>(sort: &Sort, part: ValueGroup) -> String {
    let sql = expression::<C>(&sort.field);
    let direction = if sort.is_descending { "DESC" } else { "ASC" };
    if part == ValueGroup::WithoutValue {
        format!("robots.id {direction}")
    } else if sort.field.has_equals() {
        format!("{sql} {direction}, robots.id {direction}")
    } else {
        format!("{sql} {direction}")
    }
}

/// The condition that the id of a robot is one of these. The last one is repeated up to a power of two: statements are
/// prepared once for each length.
pub(super) fn has_id_of(ids: &[i64]) -> Fragment<'static> {
    let repeated = ids.last().into_iter().cycle();
    let padded = ids.iter().chain(repeated);
    let padded = padded.take(ids.len().next_power_of_two()).enumerate();
    let list = padded.fold(Fragment::new("robots.id IN ("), |list, (index, id)| {
        let list = if index > 0 { list.sql(", ") } else { list };
        list.number(*id)
    });
    list.sql(")")
}
