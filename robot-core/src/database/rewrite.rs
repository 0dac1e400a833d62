//! Rewriting of robots after a change of the definition: the values of removed fields are dropped, and search texts
//! follow the fields that searches include. In steps, in the order of the ids, while other clients are served. The
//! table `robots_rewrite` has the place of the next step, so that each process can continue. Until then, the values of
//! removed fields are in no response, and searches compare the robots that wait.

use diesel::QueryResult;

use super::{
    dialect::Dialect,
    errors::wrap,
    fragment::{Fragment, json},
    schema::{DraftRow, ROBOT, RobotRow},
    statements::{author, by_definition, check_current, end_of_step, select, set_author},
};
use crate::{
    catalogue::{DefinitionConflict, Error, Redefinition, Room},
    model::{Definition, Field, Robot},
};

/// Stores what searches compare of robots that still have their revision, by one statement.
pub(super) async fn set_search_texts<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    robots: &[Robot],
) -> QueryResult<()> {
    let rows = robots.iter().map(|robot| {
        let row = DraftRow::new(definition, robot.values());
        RobotRow::new(robot, DraftRow { own: None, ..row })
    });
    write(connection, definition, &rows.collect::<Vec<_>>(), "").await
}

/// Stores the search texts of rows, with SQL that stores their own values or none.
async fn write<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    rows: &[RobotRow<'_>],
    set_own: &str,
) -> QueryResult<()> {
    let (before, after) = C::SET_SEARCH_TEXTS;
    let [before, after] = [before, after].map(|sql| sql.replace("/*own*/", set_own));
    let update = Fragment::new(before).text(json(&rows)?);
    let update = by_definition::<C>(update.sql(after), definition);
    if connection.change(update).await? == 0 {
        check_current(connection, definition).await?;
    }
    Ok(())
}

/// The number of robots that are converted together. Higher, and they take more memory; lower, and there are more
/// statements.
const STEP: i64 = 1000;

/// The first of the robots that wait, and the JSON of the names of removed fields; `None` if none waits.
async fn waiting<C: Dialect>(
    connection: &mut C,
    lock: &'static str,
) -> QueryResult<Option<(i64, String)>> {
    let query = Fragment::new("SELECT next_id, dropped FROM robots_rewrite WHERE id = 1").sql(lock);
    let mut pairs = connection.pairs(query, &mut Room::of_robots(1), Ok).await?;
    Ok(pairs.pop())
}

/// The least id of the robots that wait; `None` if none does.
pub(super) async fn next<C: Dialect>(connection: &mut C) -> QueryResult<Option<i64>> {
    let waiting = waiting(connection, "").await?;
    Ok(waiting.map(|(next, _)| next))
}

/// Lets all robots wait, if a definition that is stored in the same transaction requires it. Robots that already wait
/// are rewritten before, if a field returns whose values are still to be dropped.
pub(super) async fn begin<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
    present: &Definition,
) -> QueryResult<()> {
    let definition = &redefinition.definition;
    let is_searched = |definition: &Definition, field: &Field| {
        let field = definition.field(field.name());
        field.is_some_and(Field::is_searched)
    };
    let mut all = definition.own().chain(present.own());
    let is_search_changed =
        all.any(|field| is_searched(definition, field) != is_searched(present, field));
    let removed = redefinition.dropped(present);
    let mut dropped: Vec<_> = removed.map(|field| field.name().to_owned()).collect();
    if let Some((_, json)) = waiting(connection, C::FOR_UPDATE).await? {
        let names = names(&json);
        if names.iter().any(|name| definition.field(name).is_some()) {
            while step(connection, present).await? {}
        } else {
            dropped.extend(names);
        }
    }
    if !is_search_changed && dropped.is_empty() {
        return Ok(());
    }
    let guard = C::IN_TRANSACTION;
    let delete = format!("DELETE FROM robots_rewrite WHERE id = 1{guard}");
    connection.batch(&delete).await?;
    let insert = "INSERT INTO robots_rewrite (id, next_id, dropped, actor) VALUES (1, 1";
    let insert = Fragment::new(insert)
        .sql(guard)
        .sql(", ")
        .text(json(&dropped)?)
        .sql(", ");
    let insert = insert.text_or_null(redefinition.by.as_deref()).sql(")");
    connection.change(insert).await.map(drop)
}

/// Rewrites some robots in the transaction of the caller. Returns whether more may wait.
pub(super) async fn step<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
) -> QueryResult<bool> {
    let Some((next, dropped)) = waiting(connection, C::FOR_UPDATE).await? else {
        return Ok(false);
    };
    let Some(last) = end_of_step(connection, next - 1).await? else {
        connection.batch("DELETE FROM robots_rewrite").await?;
        return Ok(false);
    };
    let of_step = || {
        let from = Fragment::new("robots.id BETWEEN ").number(next);
        from.sql(" AND ").number(last)
    };
    let dropped = names(&dropped);
    if !dropped.is_empty() {
        let actor = "(SELECT actor FROM robots_rewrite WHERE id = 1)";
        connection.change(author::<C>().sql(actor)).await?;
        connection.batch(C::IN_ORDER).await?;
        drop_values(connection, &dropped, of_step()).await?;
        set_author(connection, None).await?;
    }
    let with_own = of_step().sql(" AND robots.own IS NOT NULL ORDER BY robots.id");
    let query = select(ROBOT, Some(with_own)).sql(C::FOR_UPDATE);
    let room = &mut Room::of_robots(usize::MAX);
    let robots = connection.robots(query, room).await?;
    set_search_texts(connection, definition, &robots).await?;
    let place = Fragment::new("UPDATE robots_rewrite SET next_id = ").number(last + 1);
    let place = place.sql(C::IN_TRANSACTION);
    connection.change(place).await?;
    Ok(true)
}

fn names(json: &str) -> Vec<String> {
    // Only this program writes them.
    serde_json::from_str(json).unwrap_or_default()
}

/// Robots after an id that have values of some fields, in the order of the ids; none after the last ones.
async fn with_values<C: Dialect>(
    connection: &mut C,
    fields: &[&Field],
    after: i64,
) -> QueryResult<Vec<Robot>> {
    let have_values = fields.iter().map(|field| has_value::<C>(field.name()));
    let Some(have_values) = have_values.reduce(Fragment::or) else {
        return Ok(Vec::new());
    };
    let condition = Fragment::new("robots.id > ").number(after).and(have_values);
    let condition = condition.sql(" ORDER BY robots.id LIMIT ").number(STEP);
    let query = select(ROBOT, Some(condition)).uncached();
    connection
        .robots(query, &mut Room::of_robots(usize::MAX))
        .await
}

/// Converts the values of fields to their kinds, by the definition that the transaction has stored, and its author; without
/// one, only checks whether that is possible. Values that cannot be converted are dropped, or exclude the definition.
pub(super) async fn convert<C: Dialect>(
    connection: &mut C,
    definition: Option<(&Definition, Option<&str>)>,
    fields: &[&Field],
    drops_values: bool,
) -> QueryResult<()> {
    let mut last = 0;
    let mut excluding = vec![(0, Vec::new()); fields.len()];
    let mut is_excluded = false;
    loop {
        let robots = with_values(connection, fields, last).await?;
        let Some(end) = robots.last() else {
            break;
        };
        last = end.id().get();
        let mut converted = Vec::new();
        for robot in &robots {
            let changes = Redefinition::conversion(fields, robot);
            for (field, (count, some)) in fields.iter().zip(&mut excluding) {
                if changes.removes(field) && !drops_values {
                    is_excluded = true;
                    *count += 1;
                    let value = robot
                        .value(field.name())
                        .filter(|_| some.len() < Error::EXCLUDING);
                    some.extend(value.map(|value| (robot.id(), value.to_string())));
                }
            }
            if !changes.is_empty() {
                converted.push((robot, changes.apply_to(robot, robot.revision())));
            }
        }
        if let Some((definition, by)) = definition.filter(|_| !is_excluded && !converted.is_empty())
        {
            // With the revision before.
            let rows = converted.iter().map(|(robot, converted)| {
                let row = DraftRow::new(definition, converted.values()).by(by);
                RobotRow::new(robot, row)
            });
            let rows: Vec<_> = rows.collect();
            write(connection, definition, &rows, C::SET_OWN).await?;
        }
    }
    let mut excluding = fields.iter().zip(excluding);
    match excluding.find(|(_, (count, _))| *count > 0) {
        Some((field, (count, some))) => {
            let conflict = DefinitionConflict::HaveOtherKinds;
            Err(wrap(Error::excluded(field, conflict, count, some)))
        }
        None => Ok(()),
    }
}

/// Drops the values with these names of the robots that meet a condition.
pub(super) async fn drop_values<C: Dialect>(
    connection: &mut C,
    names: &[String],
    condition: Fragment<'_>,
) -> QueryResult<()> {
    let have_values = names.iter().map(|name| has_value::<C>(name));
    if let Some(have_values) = have_values.reduce(Fragment::or) {
        let names = names.iter().map(String::as_str);
        let (columns, own): (Vec<_>, Vec<_>) =
            names.partition(|name| Field::built_in(name).is_some());
        let columns: Vec<_> = columns
            .iter()
            .map(|name| format!("{name} = NULL, "))
            .collect();
        let columns = columns.concat();
        let (before, after) = C::merge(&own);
        let nulls = own.iter().map(|name| format!("\"{name}\":null"));
        let patch = format!("{{{}}}", nulls.collect::<Vec<_>>().join(","));
        // Triggers do the rest.
        let update = Fragment::new(format!("UPDATE robots SET {columns}own = {before}"));
        let update = update.text(patch).sql(format!("{after} WHERE "));
        let update = update.then(condition.and(have_values));
        connection.change(update.uncached()).await?;
    }
    Ok(())
}

/// The condition that robots have a value with a name, of any kind. Most robots that have none are found without
/// parsing their values.
pub(super) fn has_value<C: Dialect>(name: &str) -> Fragment<'static> {
    if Field::built_in(name).is_some() {
        return Fragment::new(format!("(robots.{name} IS NOT NULL)"));
    }
    let value = C::own_text_value(name);
    Fragment::new(format!(
        "(robots.own LIKE '%\"{name}\"%' AND {value} IS NOT NULL)"
    ))
}
