//! Random steps of the test that compares stores with the one in memory.

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{Definition, Draft, Field, Filter, Sort, Value};

use crate::sorts;

/// One step. A robot is identified by how many robots were added after it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Add(Draft),
    /// An update or a deletion expects the present revision, one so much less, or none.
    Update(usize, Option<i64>, Draft),
    Replace(usize, Draft),
    /// Removes the value of a field.
    Unset(usize, &'static str),
    Delete(usize, Option<i64>),
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
    /// All values of a field, and the most frequent ones.
    CountBy(&'static str),
    /// Completes the search index of a store that does so later.
    Index,
}

/// Definitions with the same names of fields, of which some have another kind or other rules.
pub(crate) const DEFINITIONS: [&str; 5] = [
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
    let texts = "|a|A|b|é|e\u{301}%Ab|'|\"|\\|%|_|🤖|a:b|null|1|good|fair|it's \"poor\"|2020-02-29|0001-01-01|2021-02-29";
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
                      acquired= lent=true lent= state=good state= type= year= year_to=1977 \
                      maker_not=a maker_not= maker_contains=A maker_contains=É maker_contains=% serial_not=b \
                      serial_contains=' rooms_not=3 rooms_contains=É weight_not=0.1 lent_not=true state_not=good \
                      state_contains=O type_not=droid year_not=1977 name_contains=a name_contains=É \
                      name_contains=ς name_contains=\\ name_contains=( name_not=a";
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
        let filter = Filter::from(text);
        let filter = if fold { filter.folded() } else { filter };
        let filter = name
            .into_iter()
            .fold(filter, |filter, name| filter.with(Field::NAME, name));
        let filter = types.into_iter().fold(filter, |filter, each| {
            filter.with(Field::TYPE, each.into_owned())
        });
        let filter = first
            .into_iter()
            .fold(filter, |filter, year| filter.at_least(Field::YEAR, year));
        last.into_iter()
            .fold(filter, |filter, year| filter.at_most(Field::YEAR, year))
    })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let order = || 0..12_usize;
    let state = || (order(), prop::option::of(0..3_i64));
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
        2 => select([&OWN[..], &["type", "year", "name"]].concat()).prop_map(Step::CountBy),
        5 => (state(), changed)
            .prop_map(|((order, age), draft)| Step::Update(order, age, draft)),
        3 => state().prop_map(|(order, age)| Step::Delete(order, age)),
        2 => (vec(with_own(draft()), 0..4), vec((order(), 0..3000_i64), 0..3))
            .prop_map(|(drafts, years)| Step::Together(drafts, years)),
        1 => order().prop_map(Step::Get),
        1 => name().prop_map(Step::Find),
        2 => (filter(), prop_oneof![Just(String::new()), name()], 0..5_usize)
            .prop_map(|(filter, after, limit)| Step::Page(filter, after, limit)),
        3 => (filter(), select(sorts(Definition::built_in())), 1..4_usize)
            .prop_map(|(filter, sort, size)| Step::List(filter, sort, size)),
        4 => (order(), any::<usize>(), 1..5_usize, everything)
            .prop_map(|(order, start, length, filter)| Step::Part(order, start, length, filter)),
        1 => filter().prop_map(Step::Count),
        1 => Just(Step::Index),
    ]
}
