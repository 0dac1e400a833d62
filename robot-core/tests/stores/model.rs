//! Property test: every store returns the same results as the in-memory store, step by step.

use std::env;

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{
    Catalogue, CatalogueExt, Change, Cursor, DefinitionConflict, Draft, Error, Field, Filter,
    MemoryCatalogue, PageRequest, Pages, Redefinition, Revision, Robot, RobotId, Sort, Summary,
    ValidChanges, Value, ValueCount,
};

use crate::backend::Backend;

/// One step. A robot is identified by how many robots were added after it.
#[derive(Debug, Clone)]
enum Step {
    Add(Draft),
    /// An update or a deletion expects a revision, or none.
    Update(usize, Option<Revision>, Draft),
    Replace(usize, Draft),
    /// Removes the value of a field.
    Unset(usize, &'static str),
    Delete(usize, Option<Revision>),
    /// Adds robots and changes years, all together.
    Together(Vec<Draft>, Vec<(usize, i64)>),
    Get(usize),
    Find(String),
    /// By name, after a text.
    Page(Filter, String, usize),
    List(Filter, Sort, usize),
    /// A search for a part of the name of a robot: its start and its length.
    Part(usize, usize, usize, Filter),
    Count(Filter),
    /// One of the definitions, and whether it drops values.
    Define(usize, bool),
    /// Conditions by their names, an order, and the number of robots on a page.
    Own(Vec<(&'static str, &'static str)>, &'static str, usize),
    CountBy(&'static str),
    /// Completes the search index of a store that does so later.
    Index,
}

/// The result of a step. Ids are replaced by positions in the order of inserts: stores may assign
/// different ids.
#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Robots(Vec<(usize, Revision, Draft)>),
    Counted(u64, Summary),
    CountedBy(Vec<ValueCount>),
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

    fn answer(&mut self, step: &Step) -> Answer {
        let catalogue = &self.catalogue;
        let none = |()| Vec::new();
        let is_insert = matches!(step, Step::Add(_) | Step::Together(..));
        let result = match step.clone() {
            Step::Add(draft) => catalogue.add(draft).map(|robot| vec![robot]),
            Step::Update(order, None, draft) => catalogue.patch(self.id(order), draft).map(none),
            Step::Update(order, Some(revision), draft) => {
                let patched = catalogue.patch_if(self.id(order), revision, draft);
                patched.map(none)
            }
            Step::Replace(order, draft) => catalogue.replace(self.id(order), draft).map(none),
            Step::Unset(order, name) => match catalogue.definition().field(name) {
                Some(field) => self.unset(self.id(order), field.clone()).map(none),
                None => Ok(Vec::new()),
            },
            Step::Delete(order, revision) => {
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
                let counts = field.map(|field| catalogue.value_counts(&Filter::all(), field));
                return Answer::CountedBy(counts.transpose().unwrap().unwrap_or_default());
            }
            Step::Index => {
                (self.index)();
                Ok(Vec::new())
            }
        };
        match result {
            Ok(robots) => self.robots(is_insert, robots),
            // Several changes may fail, in any order.
            Err(Error::Rejected(_)) if matches!(step, Step::Together(..)) => {
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

/// Definitions with the same names of fields, of which some have another kind or other rules.
const DEFINITIONS: [&str; 5] = [
    "{}",
    r#"{"properties": {
        "maker": {"type": "string", "index": true, "search": true},
        "serial": {"type": "string", "maxLength": 4, "unique": true},
        "weight": {"type": "number"},
        "rooms": {"type": "integer", "unique": true},
        "acquired": {"type": "string", "format": "date", "index": true},
        "lent": {"type": "boolean"},
        "state": {"enum": ["good", "fair", "it's \"poor\""]}}}"#,
    r#"{"properties": {
        "name": {"unique": false},
        "type": {"enum": ["droid", "virtual", "vase"]},
        "year": {"minimum": -5000},
        "weight": {"type": "number", "index": true},
        "rooms": {"type": "integer", "index": true},
        "maker": {"type": "string", "unique": true},
        "lent": {"type": "boolean", "index": true}},
        "required": ["name"]}"#,
    r#"{"properties": {
        "rooms": {"type": "number"},
        "state": {"type": "string"},
        "maker": {"type": "string", "index": true}},
        "required": ["name", "type", "year", "maker"]}"#,
    r#"{"properties": {
        "type": false,
        "maker": {"type": "string", "format": "date"},
        "serial": {"type": "integer", "unique": true},
        "weight": {"type": "integer"},
        "rooms": {"type": "string", "search": true},
        "acquired": {"type": "string", "maxLength": 8},
        "lent": {"type": "string", "unique": true},
        "state": {"type": "boolean", "index": true}},
        "required": ["name"]}"#,
];

const OWN: [&str; 7] = [
    "maker", "serial", "weight", "rooms", "acquired", "lent", "state",
];

const NUMBERS: [f64; 9] = [
    0.0,
    0.1,
    -2.5,
    3.0,
    1e-7,
    1e19,
    1e300,
    f64::MIN,
    9_007_199_254_740_992.0,
];
const INTEGERS: [i64; 7] = [0, 1, 3, -3, 9_007_199_254_740_993, i64::MIN, i64::MAX];

/// A value of some field, and often of the one that has it.
fn value() -> impl Strategy<Value = Value<'static>> {
    let texts = "|a|A|b|é|'|\"|\\|%|_|🤖|a:b|null|1|good|fair|it's \"poor\"|2020-02-29|0001-01-01|2021-02-29";
    let texts: Vec<_> = texts.split('|').collect();
    prop_oneof![
        4 => select(texts).prop_map(Value::from),
        2 => select(&NUMBERS[..]).prop_map(|number| Value::number(number).unwrap()),
        2 => select(&INTEGERS[..]).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
    ]
}

/// Few of the values have a kind that their fields have in any definition.
fn own() -> impl Strategy<Value = Vec<(&'static str, Value<'static>)>> {
    let fits = |(name, value): &(&'static str, Value<'_>)| {
        matches!(
            (*name, value),
            ("maker" | "serial" | "acquired" | "state", Value::Text(_))
                | ("weight", Value::Integer(_) | Value::Number(_))
                | ("rooms", Value::Integer(_))
                | ("lent", Value::Boolean(_))
        )
    };
    let fitting = (select(&OWN[..]), value()).prop_filter("another kind", fits);
    prop_oneof![
        8 => Just(Vec::new()),
        12 => vec(fitting, 1..4),
        1 => vec((select(&OWN[..]), value()), 1..3),
    ]
}

fn with_own(draft: impl Strategy<Value = Draft>) -> impl Strategy<Value = Draft> {
    (draft, own()).prop_map(|(mut draft, own)| {
        for (name, value) in own {
            draft.set(name, value);
        }
        draft
    })
}

fn own_list() -> impl Strategy<Value = Step> {
    let conditions = "maker= maker=a maker=é maker=1 serial='  weight=0.1 weight= weight_from=1 \
                      weight_to=1e19 rooms=3 rooms_from=0 rooms_to=0 acquired_from=2000-01-01 \
                      acquired= lent=true lent= state=good state= type= year= year_to=1977";
    let conditions: Vec<_> = conditions
        .split_whitespace()
        .map(|text| text.split_once('=').unwrap())
        .collect();
    let sorts = "maker -maker serial -serial weight -weight rooms -rooms acquired -acquired lent -lent \
                 state -state year -year name -name";
    let sorts: Vec<_> = sorts.split_whitespace().collect();
    (vec(select(conditions), 0..3), select(sorts), 1..4_usize)
        .prop_map(|(conditions, sort, size)| Step::Own(conditions, sort, size))
}

/// Parts of names, separated by `|`: few, so that names contain each other, and some that have a special
/// meaning in a query language.
const PIECES: &str = "a|b|A|B|e|e\u{301}|\u{301}|é|É|ø|Ø|Ж|ж|ς|Σ|ß|K|가|'|\"|%|_|*|?|\\|(|[| |AND|NEAR|\
                      🤖|🤖\u{fe0f}";

fn pieces(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let pieces: Vec<_> = PIECES.split('|').collect();
    vec(select(pieces), count).prop_map(|pieces| pieces.concat())
}

/// Names of few letters, so that they are equal to or contain each other, any names, and long ones that
/// need several pages of a database.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[abAB%_ ]{1,3}",
        4 => pieces(1..8),
        1 => any::<String>(),
        1 => "\\PC{0,300}",
        1 => (pieces(1..8), 100..200_usize).prop_map(|(name, length)| name + &"🤖".repeat(length)),
    ]
}

fn draft() -> impl Strategy<Value = Draft> {
    let robot_type = prop_oneof![
        8 => prop_oneof!["droid", "mechanical", "virtual"].prop_map(Some),
        1 => any::<String>().prop_map(Some),
        1 => Just(None),
    ];
    let year = prop_oneof![
        8 => (0..3000_i64).prop_map(Some),
        1 => any::<i64>().prop_map(Some),
        1 => Just(None),
    ];
    let name = prop::option::weighted(0.95, name());
    (name, robot_type, year).prop_map(|(name, robot_type, year)| Draft {
        name: name.map(Into::into),
        robot_type: robot_type.map(Into::into),
        year,
        ..Draft::default()
    })
}

/// A draft, perhaps without some of its members.
fn partial() -> impl Strategy<Value = Draft> {
    (draft(), any::<[bool; 3]>()).prop_map(|(draft, [name, robot_type, year])| Draft {
        name: draft.name.filter(|_| name),
        robot_type: draft.robot_type.filter(|_| robot_type),
        year: draft.year.filter(|_| year),
        ..Draft::default()
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let text = prop_oneof![2 => Just(""), 1 => Just("a\0b")].prop_map(str::to_owned);
    let text = prop_oneof![2 => text, 1 => name(), 1 => pieces(1..4)];
    let types = vec(select(Field::TYPE.choices()), 0..3);
    let year = || prop::option::of(0..3000_i64);
    let name = prop::option::weighted(0.1, name());
    let parts = ((text, any::<bool>()), name, types, year(), year());
    parts.prop_map(|((text, fold), name, types, first, last)| {
        let mut filter = Filter::from(text);
        if fold {
            filter = filter.folded();
        }
        if let Some(name) = name {
            filter = filter.with(Field::NAME, name);
        }
        for robot_type in types {
            filter = filter.with(Field::TYPE, robot_type.into_owned());
        }
        if let Some(first) = first {
            filter = filter.at_least(Field::YEAR, first);
        }
        if let Some(last) = last {
            filter = filter.at_most(Field::YEAR, last);
        }
        filter
    })
}

fn step() -> impl Strategy<Value = Step> {
    let order = || 0..12_usize;
    let revision = (1..4_i64).prop_map(|number| Revision::new(number).unwrap());
    let state = || (order(), prop::option::of(revision.clone()));
    let changed = with_own(prop_oneof![draft(), partial()]);
    let everything = select(vec![Filter::all(), Filter::all().folded()]);
    prop_oneof![
        5 => with_own(draft()).prop_map(Step::Add),
        2 => (order(), with_own(draft())).prop_map(|(order, draft)| Step::Replace(order, draft)),
        1 => (order(), select([&OWN[..], &["year", "type"]].concat()))
            .prop_map(|(order, name)| Step::Unset(order, name)),
        2 => (0..DEFINITIONS.len(), any::<bool>())
            .prop_map(|(index, drops_values)| Step::Define(index, drops_values)),
        4 => own_list(),
        1 => select(vec!["type", "lent", "state", "acquired"]).prop_map(Step::CountBy),
        5 => (state(), changed)
            .prop_map(|((order, revision), draft)| Step::Update(order, revision, draft)),
        3 => state().prop_map(|(order, revision)| Step::Delete(order, revision)),
        2 => (vec(with_own(draft()), 0..4), vec((order(), 0..3000_i64), 0..3))
            .prop_map(|(drafts, years)| Step::Together(drafts, years)),
        1 => order().prop_map(Step::Get),
        1 => name().prop_map(Step::Find),
        2 => (filter(), prop_oneof![Just(String::new()), name()], 0..5_usize)
            .prop_map(|(filter, after, limit)| Step::Page(filter, after, limit)),
        3 => (filter(), select(Sort::all(robot_core::Definition::built_in()).collect::<Vec<_>>()), 1..4_usize)
            .prop_map(|(filter, sort, size)| Step::List(filter, sort, size)),
        4 => (order(), any::<usize>(), 1..5_usize, everything)
            .prop_map(|(order, start, length, filter)| Step::Part(order, start, length, filter)),
        1 => filter().prop_map(Step::Count),
        1 => Just(Step::Index),
    ]
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
