//! Property test: every store returns the same results as the in-memory store, step by step.

use proptest::{collection::vec, prelude::*};
use std::ops::Bound;

use robot_core::{
    Catalogue, CatalogueExt, Change, Cursor, Draft, Error, Field, Filter, MemoryCatalogue,
    PageRequest, Pages, Revision, Robot, RobotId, Sort, Summary, ValidChanges, ValidDraft,
    Violation,
};

use crate::backend::Backend;

/// One step. A robot is identified by its position in the order of inserts.
#[derive(Debug, Clone)]
enum Step {
    Add(Draft),
    Replace(usize, Draft),
    Patch(usize, Draft),
    PatchIf(usize, Revision, Draft),
    Delete(usize),
    DeleteIf(usize, Revision),
    /// Adds robots and changes years, all together.
    Together(Vec<Draft>, Vec<(usize, i64)>),
    Get(usize),
    Find(String),
    Page(String, String, usize),
    Search(String, usize),
    Query(Filter, Sort, usize),
    Count(Filter),
}

/// The result of a step. Ids are replaced by positions in the order of inserts: stores may assign
/// different ids.
#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Robots(Vec<(usize, Revision, Draft)>),
    Counted(u64, Summary),
    Rejected(Vec<Violation>),
    NotFound,
    Stale,
}

/// A store, and the ids that it has assigned.
struct Subject<C> {
    catalogue: C,
    ids: Vec<RobotId>,
}

impl<C: Catalogue> Subject<C> {
    fn new(catalogue: C) -> Self {
        Self {
            catalogue,
            ids: Vec::new(),
        }
    }

    /// The id of a robot by its position; an unused id if there are no robots.
    fn id(&self, order: usize) -> RobotId {
        let id = order
            .checked_rem(self.ids.len())
            .map(|index| self.ids[index]);
        id.or(RobotId::new(i64::MAX)).unwrap()
    }

    fn answer(&mut self, step: &Step) -> Answer {
        let catalogue = &self.catalogue;
        let result = match step.clone() {
            Step::Add(draft) => catalogue.add(draft).map(|robot| vec![robot]),
            Step::Replace(order, draft) => catalogue
                .replace(self.id(order), draft)
                .map(|()| Vec::new()),
            Step::Patch(order, draft) => {
                catalogue.patch(self.id(order), draft).map(|()| Vec::new())
            }
            Step::PatchIf(order, revision, draft) => catalogue
                .patch_if(self.id(order), revision, draft)
                .map(|()| Vec::new()),
            Step::DeleteIf(order, revision) => catalogue
                .delete_if(self.id(order), revision)
                .map(|()| Vec::new()),
            Step::Together(drafts, years) => {
                // Stores assign ids in the order of the changes, or of the names.
                let mut valid: Vec<_> = drafts.into_iter().flat_map(ValidDraft::new).collect();
                valid.sort_by(|one, other| one.name().cmp(other.name()));
                let inserts: Vec<_> = valid.into_iter().map(Change::Insert).collect();
                let updates = years.into_iter().map(|(order, year)| {
                    let year = Draft {
                        year: Some(year),
                        ..Draft::default()
                    };
                    Change::Update(self.id(order), ValidChanges::new(year).unwrap())
                });
                let added = inserts.len();
                let ids = catalogue.apply_all(inserts.into_iter().chain(updates).collect());
                let get = |id| catalogue.get(id).unwrap().unwrap();
                ids.map(|ids| ids.into_iter().take(added).map(get).collect())
            }
            Step::Delete(order) => catalogue.delete(self.id(order)).map(|()| Vec::new()),
            Step::Get(order) => catalogue.get(self.id(order)).map(Vec::from_iter),
            Step::Find(name) => catalogue.find(&name).map(Vec::from_iter),
            Step::Page(containing, after, limit) => catalogue.page(PageRequest {
                filter: &containing.into(),
                cursor: &Cursor::after_name(after),
                limit,
            }),
            Step::Query(filter, sort, page_size) => Pages::new(catalogue, filter)
                .sorted(sort)
                .page_size(page_size)
                .collect::<Result<Vec<_>, _>>()
                .map(|pages| pages.concat()),
            Step::Count(filter) => {
                let count = catalogue.count(&filter).unwrap();
                return Answer::Counted(count, catalogue.summary(&filter).unwrap());
            }
            Step::Search(containing, page_size) => Pages::new(catalogue, containing)
                .page_size(page_size)
                .collect::<Result<Vec<_>, _>>()
                .map(|pages| pages.concat()),
        };
        match result {
            Ok(robots) => self.robots(step, robots),
            Err(Error::Rejected(violations)) => Answer::Rejected(violations.iter().collect()),
            Err(Error::NotFound(_)) => Answer::NotFound,
            Err(Error::Stale(_)) => Answer::Stale,
            Err(error) => panic!("{step:?}: {error:?}"),
        }
    }

    fn robots(&mut self, step: &Step, robots: Vec<Robot>) -> Answer {
        if matches!(step, Step::Add(_) | Step::Together(..)) {
            for id in robots.iter().map(Robot::id) {
                assert!(!self.ids.contains(&id), "{id} was reused");
                self.ids.push(id);
            }
        }
        if matches!(
            step,
            Step::Replace(..)
                | Step::Patch(..)
                | Step::PatchIf(..)
                | Step::Delete(_)
                | Step::DeleteIf(..)
        ) {
            return Answer::Done;
        }
        let order = |robot: &Robot| self.ids.iter().position(|id| *id == robot.id()).unwrap();
        let robots = robots
            .into_iter()
            .map(|robot| (order(&robot), robot.revision(), robot.into()));
        Answer::Robots(robots.collect())
    }
}

/// Mostly names of few letters, so that they are equal to or contain each other.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abAB%_ ]{1,3}",
        2 => "[aÁéÉ\u{301}жЖςΣßK가🤖\\\\'\"*?\\[\\]]{1,4}",
        1 => any::<String>(),
        1 => "\\PC{0,300}",
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
    (prop::option::weighted(0.95, name()), robot_type, year).prop_map(|(name, robot_type, year)| {
        Draft {
            name,
            robot_type,
            year,
        }
    })
}

/// A draft without some of its members.
fn partial() -> impl Strategy<Value = Draft> {
    (draft(), any::<[bool; 3]>()).prop_map(|(draft, [name, robot_type, year])| Draft {
        name: draft.name.filter(|_| name),
        robot_type: draft.robot_type.filter(|_| robot_type),
        year: draft.year.filter(|_| year),
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let text = prop_oneof![2 => Just(String::new()), 1 => name()];
    let types = vec(prop::sample::select(Field::TYPE.choices()), 0..3);
    let year = || prop::option::of(0..3000_i64);
    let parts = (
        (text, any::<bool>()),
        prop::option::weighted(0.1, name()),
        types,
        year(),
        year(),
    );
    parts.prop_map(|((text, fold), name, types, first, last)| {
        let mut filter = Filter::from(text);
        if fold {
            filter = filter.folded();
        }
        if let Some(name) = name {
            filter = filter.named(name);
        }
        let bound = |year: Option<i64>| year.map_or(Bound::Unbounded, Bound::Included);
        let filter = types.into_iter().fold(filter, Filter::of_type);
        filter.years((bound(first), bound(last)))
    })
}

fn step() -> impl Strategy<Value = Step> {
    let order = 0..12_usize;
    let revision = (1..4_i64).prop_map(|number| Revision::new(number).unwrap());
    let state = (order.clone(), revision);
    let part = prop_oneof![Just(String::new()), name()];
    prop_oneof![
        4 => draft().prop_map(Step::Add),
        3 => (order.clone(), draft()).prop_map(|(order, draft)| Step::Replace(order, draft)),
        2 => (order.clone(), partial()).prop_map(|(order, draft)| Step::Patch(order, draft)),
        2 => (state.clone(), partial())
            .prop_map(|((order, revision), draft)| Step::PatchIf(order, revision, draft)),
        1 => state.prop_map(|(order, revision)| Step::DeleteIf(order, revision)),
        2 => (vec(draft(), 0..4), vec((order.clone(), 0..3000_i64), 0..3))
            .prop_map(|(drafts, years)| Step::Together(drafts, years)),
        2 => order.clone().prop_map(Step::Delete),
        1 => order.prop_map(Step::Get),
        1 => name().prop_map(Step::Find),
        2 => (part.clone(), part.clone(), 0..5_usize)
            .prop_map(|(containing, after, limit)| Step::Page(containing, after, limit)),
        2 => (part, 1..4_usize).prop_map(|(containing, size)| Step::Search(containing, size)),
        2 => (filter(), prop::sample::select(&Sort::ALL[..]), 1..4_usize)
            .prop_map(|(filter, sort, size)| Step::Query(filter, sort, size)),
        1 => filter().prop_map(Step::Count),
    ]
}

fn assert_like_the_model(catalogue: impl Catalogue, steps: &[Step]) {
    let mut model = Subject::new(MemoryCatalogue::new());
    let mut subject = Subject::new(catalogue);
    for step in steps {
        assert_eq!(subject.answer(step), model.answer(step), "{step:?}");
    }
    let all = Step::Search(String::new(), 1000);
    assert_eq!(subject.answer(&all), model.answer(&all));
}

fn assert_opened_like_the_model<B: Backend>(steps: &[Step]) {
    let database = B::new();
    assert_like_the_model(database.open(), steps);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

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
