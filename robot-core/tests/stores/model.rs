//! Property test: every store returns the same results as the in-memory store, step by step.

use std::env;

use proptest::{collection::vec, prelude::*};
use robot_core::{
    Catalogue, CatalogueExt, Change, Cursor, DefinitionConflict, Draft, Error, Field, Filter,
    FrequentValues, MemoryCatalogue, PageRequest, Pages, Redefinition, Revision, Robot, RobotId,
    Sort, Summary, ValidChanges, ValueCount,
};

use crate::{
    backend::Backend,
    steps::{DEFINITIONS, Step, step},
};

/// The result of a step. Ids are replaced by positions in the order of inserts: stores may assign
/// different ids.
#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Robots(Vec<(usize, Revision, Draft)>),
    Counted(u64, Summary),
    CountedBy(Vec<ValueCount>, FrequentValues),
    Excluded(String, DefinitionConflict, u64, Vec<usize>, Vec<String>),
    Rejected(Vec<String>),
    NotFound,
    Stale,
}

/// A store, and the ids that it has assigned.
struct Subject<'a, C> {
    catalogue: C,
    ids: Vec<RobotId>,
    index: &'a dyn Fn(),
}

impl<C: Catalogue> Subject<'_, C> {
    /// The id of a robot; an unused id if it does not exist.
    fn id(&self, order: usize) -> RobotId {
        let id = self.ids.iter().rev().nth(order).copied();
        id.or(RobotId::new(i64::MAX)).unwrap()
    }

    /// The present revision of a robot, or one that is less.
    fn revision(&self, order: usize, age: i64) -> Revision {
        let robot = self.catalogue.get(self.id(order)).unwrap();
        let present = robot.map_or(1, |robot| robot.revision().get());
        Revision::new(present - age).unwrap_or(Revision::FIRST)
    }

    fn answer(&mut self, step: &Step) -> Answer {
        let catalogue = &self.catalogue;
        let none = |()| Vec::new();
        let is_insert = matches!(step, Step::Add(_) | Step::Together(..));
        let result = match step.clone() {
            Step::Add(draft) => catalogue.add(draft).map(|robot| vec![robot]),
            Step::Update(order, None, draft) => catalogue.patch(self.id(order), draft).map(none),
            Step::Update(order, Some(age), draft) => {
                let revision = self.revision(order, age);
                let patched = catalogue.patch_if(self.id(order), revision, draft);
                patched.map(none)
            }
            Step::Replace(order, draft) => catalogue.replace(self.id(order), draft).map(none),
            Step::Unset(order, name) => match catalogue.definition().field(name) {
                Some(field) => self.unset(self.id(order), field.clone()).map(none),
                None => Ok(Vec::new()),
            },
            Step::Delete(order, age) => {
                let revision = age.map(|age| self.revision(order, age));
                let deleted = catalogue.apply(Change::Delete(self.id(order), revision));
                deleted.map(|_| Vec::new())
            }
            Step::Together(drafts, years) => self.apply_together(drafts, years),
            Step::Get(order) => catalogue.get(self.id(order)).map(Vec::from_iter),
            Step::Find(name) => catalogue.find(&name).map(Vec::from_iter),
            Step::Page(filter, after, limit) => {
                let page = catalogue.page(PageRequest {
                    limit,
                    ..PageRequest::new(&filter, &Cursor::after_name(after))
                });
                page.map(|page| page.items)
            }
            Step::List(filter, sort, size) => list(catalogue, filter, sort, size),
            Step::Part(order, start, length, filter) => {
                let robot = catalogue.get(self.id(order)).unwrap();
                let name = robot.map_or(String::new(), |robot| robot.name().to_owned());
                let start = start.checked_rem(name.chars().count()).unwrap_or(0);
                let part: String = name.chars().skip(start).take(length).collect();
                list(catalogue, filter.containing(part), Sort::default(), length)
            }
            Step::Count(filter) => {
                let count = catalogue.count(&filter).unwrap();
                return Answer::Counted(count, catalogue.summary(&filter).unwrap());
            }
            Step::Define(index, drops_values) => {
                let mut redefinition = Redefinition::new(DEFINITIONS[index].parse().unwrap());
                redefinition.drops_values = drops_values;
                catalogue.define(redefinition).map(|_| Vec::new())
            }
            Step::Own(conditions, sort, size) => {
                let definition = catalogue.definition();
                let sort = Sort::parse(sort, &definition).unwrap_or_default();
                let mut filter = Filter::all();
                for (name, text) in conditions {
                    let mut all = definition.conditions();
                    let condition = all.find(|condition| condition.name() == name);
                    if let Some(condition) = condition
                        && let Ok(value) = condition.parse(text)
                    {
                        filter = filter.and(condition, value);
                    }
                }
                list(catalogue, filter, sort, size)
            }
            Step::CountBy(name) => {
                let definition = catalogue.definition();
                let field = definition.field(name);
                let all = &Filter::all();
                let counts = field.map(|field| catalogue.value_counts(all, field));
                let frequent = field.map(|field| catalogue.frequent_values(all, field, 2));
                let counts = counts.transpose().unwrap().unwrap_or_default();
                return Answer::CountedBy(
                    counts,
                    frequent.transpose().unwrap().unwrap_or_default(),
                );
            }
            Step::Index => {
                (self.index)();
                Ok(Vec::new())
            }
        };
        match result {
            Ok(robots) => self.robots(is_insert, robots),
            // Several changes may fail, in any order.
            Err(Error::Rejected(_) | Error::NotFound(_)) if matches!(step, Step::Together(..)) => {
                Answer::Rejected(Vec::new())
            }
            Err(Error::Rejected(violations)) => Answer::Rejected(violations.messages()),
            Err(Error::DefinitionConflict {
                field,
                conflict,
                robots,
                ids,
                values,
            }) => {
                let orders = ids.into_iter().map(|id| self.order(id));
                Answer::Excluded(field, conflict, robots, orders.collect(), values)
            }
            Err(Error::NotFound(_)) => Answer::NotFound,
            Err(Error::Stale(_)) => Answer::Stale,
            Err(error) => panic!("{step:?}: {error:?}"),
        }
    }

    fn order(&self, id: RobotId) -> usize {
        self.ids.iter().position(|known| *known == id).unwrap()
    }

    fn unset(&self, id: RobotId, field: Field) -> robot_core::Result<()> {
        let definition = self.catalogue.definition();
        match definition.validate_patch(Draft::default(), &[field]) {
            Ok(changes) => self.catalogue.update(id, changes),
            Err(rejection) => Err(self.catalogue.violations(rejection, Some(id))?.into()),
        }
    }

    fn apply_together(
        &self,
        drafts: Vec<Draft>,
        years: Vec<(usize, i64)>,
    ) -> robot_core::Result<Vec<Robot>> {
        // Stores assign ids in the order of the changes, or of the names.
        let definition = self.catalogue.definition();
        let valid = drafts.into_iter();
        let mut valid: Vec<_> = valid.flat_map(|draft| definition.validate(draft)).collect();
        valid.sort_by(|one, other| one.name().cmp(other.name()));
        let inserts = valid.into_iter().map(Change::Insert);
        let added = inserts.len();
        let updates = years.into_iter().map(|(order, year)| {
            let year = Draft {
                year: Some(year),
                ..Draft::default()
            };
            Change::Update(self.id(order), None, ValidChanges::new(year).unwrap())
        });
        let receipts = self.catalogue.apply_all(inserts.chain(updates).collect())?;
        let added = receipts.into_iter().take(added);
        Ok(added
            .map(|receipt| self.catalogue.get(receipt.id).unwrap().unwrap())
            .collect())
    }

    fn robots(&mut self, is_insert: bool, robots: Vec<Robot>) -> Answer {
        if is_insert {
            for id in robots.iter().map(Robot::id) {
                assert!(!self.ids.contains(&id), "{id} was reused");
                self.ids.push(id);
            }
        }
        if robots.is_empty() {
            return Answer::Done;
        }
        let robots = robots
            .into_iter()
            .map(|robot| (self.order(robot.id()), robot.revision(), robot.into()));
        Answer::Robots(robots.collect())
    }
}

/// The first pages of a list.
fn list(
    catalogue: &impl Catalogue,
    filter: Filter,
    sort: Sort,
    page_size: usize,
) -> robot_core::Result<Vec<Robot>> {
    let pages = Pages::new(catalogue, filter)
        .sorted(sort)
        .page_size(page_size);
    let pages = pages.take(20).collect::<Result<Vec<_>, _>>();
    pages.map(|pages| pages.concat())
}

/// Compares a catalogue, which may have robots, with a model that has the same.
fn assert_like_the_model(catalogue: impl Catalogue, index: &dyn Fn(), steps: &[Step]) {
    let robots = catalogue.list().unwrap();
    let ids: Vec<_> = robots.iter().map(Robot::id).collect();
    let model = MemoryCatalogue::new();
    let restoration = robot_core::Restoration::new(robots, None).unwrap();
    model.restore(&restoration).unwrap();
    let mut model = Subject {
        catalogue: model,
        ids: ids.clone(),
        index: &|| (),
    };
    let mut subject = Subject {
        catalogue,
        ids,
        index,
    };
    for step in steps {
        assert_eq!(subject.answer(step), model.answer(step), "{step:?}");
    }
    let all = Step::List(Filter::all(), Sort::default(), 1000);
    assert_eq!(subject.answer(&all), model.answer(&all));
}

fn assert_opened_like_the_model<B: Backend>(steps: &[Step]) {
    let database = B::new();
    assert_like_the_model(database.open(), &|| (), steps);
}

/// This number of cases, unless `PROPTEST_CASES` sets another.
fn configuration(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: env::var_os("PROPTEST_CASES").map_or(cases, |_| default.cases),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(configuration(50))]

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_behaves_like_memory(steps in vec(step(), 1..60)) {
        assert_opened_like_the_model::<crate::backend::Sqlite>(&steps);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_behaves_like_memory(steps in vec(step(), 1..60)) {
        assert_opened_like_the_model::<crate::backend::Postgres>(&steps);
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn mysql_behaves_like_memory(steps in vec(step(), 1..60)) {
        assert_opened_like_the_model::<crate::backend::Mysql>(&steps);
    }
}

#[cfg(feature = "sqlite")]
proptest! {
    #![proptest_config(configuration(24))]

    /// So many robots that the search index is used, of which it contains all, or not the newest.
    #[test]
    fn sqlite_with_many_robots_behaves_like_memory(mut steps in vec(step(), 1..80)) {
        use crate::sqlite::{LEADING, add_leading_names, index_all_names};

        let database = crate::backend::Sqlite::new();
        let catalogue = database.open();
        add_leading_names(&database);
        steps.push(Step::List(Filter::from(LEADING), Sort::default(), 1000));
        assert_like_the_model(catalogue, &|| index_all_names(&database), &steps);
    }
}
