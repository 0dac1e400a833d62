//! Which robots a command reads, and in which order, as arguments.

use std::{iter, sync::Arc};

use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use robot_core::{
    Catalogue, Comparison, Condition, Definition, Field, Filter, Kind, Pages, Robot, Sort, Value,
};

use crate::{
    context::Context,
    failure::Failure,
    fields::{
        Columns, PAIR, did_you_mean, fields_help, find, impl_args, invalid, pair, requirement,
        texts, value_name,
    },
};

/// The hint of conditions that no robot meets.
pub(crate) const NO_MATCH: &str =
    "No robot meets these conditions. List all robots with: robot-cli list";

const HEADING: &str = "Selection";

/// Conditions for built-in fields, which have options of their own.
#[derive(Debug)]
pub(crate) struct BuiltInArgs(Vec<(Condition, String)>);

impl_args!(BuiltInArgs);

/// A condition and its value, if not none.
type Given = (Condition, Option<Value<'static>>);

impl BuiltInArgs {
    fn add_to(command: Command) -> Command {
        command.args(conditions().map(|condition| {
            let field = condition.field();
            Arg::new(condition.name())
                .long(condition.name().replace('_', "-"))
                .help(condition.description())
                .help_heading(HEADING)
                .value_name(value_name(field))
                .allow_negative_numbers(matches!(field.kind(), Kind::Integer { .. }))
                .action(if condition.is_repeatable() {
                    ArgAction::Append
                } else {
                    ArgAction::Set
                })
        }))
    }

    fn read(matches: &ArgMatches) -> Self {
        let values = conditions().flat_map(|condition| {
            let texts = texts(matches, condition.name());
            texts.into_iter().map(move |text| (condition, text))
        });
        Self(values.collect())
    }

    fn parse(&self, definition: &Definition) -> Result<Vec<Given>, Failure> {
        let given = self.0.iter().map(|(condition, text)| {
            let (name, field) = (condition.name(), condition.field());
            given(name, text, definition).map_err(|_| {
                let field = definition.field(field.name()).unwrap_or(field);
                invalid(name, value_name(field), text, requirement(field))
            })
        });
        given.collect()
    }
}

fn given(name: &str, text: &str, definition: &Definition) -> Result<Given, String> {
    let known: Vec<_> = definition.conditions().collect();
    let condition = find(name, "conditions", &known, Condition::name)?;
    Ok((condition, condition.parse(text)?.map(Value::into_owned)))
}

/// The conditions that have an option: choices, and the ends of ranges.
fn conditions() -> impl Iterator<Item = Condition> {
    let conditions = Definition::built_in().conditions();
    conditions.filter(|one| one.is_repeatable() || one.comparison() != Comparison::Is)
}

/// The robots of a filter that meet conditions, too.
fn combine(filter: Filter, given: Vec<Given>) -> Result<Filter, Failure> {
    for (index, (one, _)) in given.iter().enumerate() {
        let is = |condition: &Condition| condition.comparison() == Comparison::Is;
        let excluded = given[..index].iter().find(|(other, _)| {
            let is_repeated = one == other && !one.is_repeatable();
            one.field() == other.field() && (is(one) != is(other) || is_repeated)
        });
        if let Some((other, _)) = excluded {
            let (one, other) = (one.name(), other.name());
            return Err(Failure::usage(format_args!(
                "the conditions {other} and {one} exclude each other; give one of them"
            )));
        }
    }
    let given = given.into_iter();
    Ok(given.fold(filter, |filter, (condition, value)| {
        filter.and(condition, value)
    }))
}

/// Conditions for any fields, and words.
#[derive(Debug, Args)]
pub(crate) struct ConditionArgs {
    #[arg(
        long = "where",
        help = "Only robots with this value of a field; repeat it for several. FIELD_from and FIELD_to \
                begin and end a range; an empty VALUE is none",
        help_heading = HEADING,
        value_name = PAIR
    )]
    conditions: Vec<String>,

    /// Only robots with each of these words in the name or a field with search; ignores case and
    /// diacritics
    #[arg(long, help_heading = HEADING, value_name = "WORDS")]
    words: Option<String>,
}

impl ConditionArgs {
    pub(crate) fn is_empty(&self) -> bool {
        let words = self.words.as_deref().unwrap_or_default();
        self.conditions.is_empty() && words.trim().is_empty()
    }

    /// The robots of a filter that meet the conditions, and those for built-in fields.
    pub(crate) fn filter(
        &self,
        mut filter: Filter,
        built_in: Option<&BuiltInArgs>,
        definition: &Definition,
    ) -> Result<Filter, Failure> {
        if let Some(words) = &self.words {
            filter = filter.with_words(words, definition);
        }
        let mut all = built_in.map_or(Ok(Vec::new()), |built_in| built_in.parse(definition))?;
        for text in &self.conditions {
            let given = pair(text).and_then(|(name, value)| given(name, value, definition));
            all.push(given.map_err(|message| invalid("where", PAIR, text, message))?);
        }
        combine(filter, all)
    }
}

/// Arguments that choose robots by the values of their fields.
#[derive(Debug, Args)]
struct FilterArgs {
    #[command(flatten)]
    built_in: BuiltInArgs,

    #[command(flatten)]
    conditions: ConditionArgs,
}

impl FilterArgs {
    fn is_empty(&self) -> bool {
        self.built_in.0.is_empty() && self.conditions.is_empty()
    }

    /// The filter of these arguments and one of names.
    fn filter(&self, names: Filter, definition: &Definition) -> Result<Filter, Failure> {
        let built_in = Some(&self.built_in);
        self.conditions.filter(names, built_in, definition)
    }
}

/// Arguments that choose robots, also by a part of their name.
#[derive(Debug, Args)]
pub(crate) struct TextFilterArgs {
    /// Only robots with this text in their name
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    containing: String,

    #[command(flatten)]
    comparison: ComparisonArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

impl TextFilterArgs {
    pub(crate) fn is_empty(&self) -> bool {
        self.containing.is_empty() && self.filter.is_empty()
    }

    pub(crate) fn filter(&self, definition: &Definition) -> Result<Filter, Failure> {
        let names = self.comparison.names(&self.containing);
        self.filter.filter(names, definition)
    }
}

/// Arguments that say how a text is compared with names.
#[derive(Debug, Args)]
pub(crate) struct ComparisonArgs {
    /// Ignore upper case and diacritics in the text: katerina finds Kateřina
    #[arg(long, help_heading = HEADING)]
    pub(crate) ignore_case: bool,
}

impl ComparisonArgs {
    /// The filter of the names that contain a text.
    pub(crate) fn names(&self, text: &str) -> Filter {
        let filter = Filter::from(text);
        if self.ignore_case {
            filter.folded()
        } else {
            filter
        }
    }
}

/// Arguments for the order and the number of robots.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    #[arg(
        long,
        help = format!(
            "Order: {}, or another field; with a hyphen, the greatest is first",
            Sort::names(Definition::built_in())
        ),
        help_heading = HEADING,
        value_name = "ORDER",
        default_value = "name",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    sort: String,

    /// The maximum number of robots
    #[arg(long, help_heading = HEADING, value_name = "NUMBER")]
    limit: Option<usize>,
}

/// The maximum number of robots that are read at once.
const PAGE_SIZE: usize = 1000;

impl OrderArgs {
    /// The robots of a filter, in the order and up to the number.
    pub(crate) fn pages(
        &self,
        catalogue: Arc<dyn Catalogue>,
        filter: Filter,
    ) -> Result<impl Iterator<Item = robot_core::Result<Vec<Robot>>> + use<>, Failure> {
        let definition = catalogue.definition();
        let sort = Sort::parse(&self.sort, &definition).map_err(|_| {
            let sortable = definition.sortable().map(Field::name);
            let hint = did_you_mean(self.sort.trim_start_matches('-'), sortable);
            let message = format!("the order is {}{hint}", Sort::names(&definition));
            invalid("sort", "ORDER", &self.sort, message)
        })?;
        let mut missing = self.limit.unwrap_or(usize::MAX);
        let pages = Pages::new(catalogue, filter).sorted(sort);
        let mut pages = pages.page_size(missing.min(PAGE_SIZE));
        Ok(iter::from_fn(move || {
            if missing == 0 {
                return None;
            }
            let page = pages.next()?.map(|mut robots| {
                robots.truncate(missing);
                missing -= robots.len();
                robots
            });
            Some(page)
        }))
    }
}

/// Arguments that choose robots, their order and their fields.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    order: OrderArgs,

    /// Print only how many robots there are
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["sort", "limit", "fields"])]
    count: bool,

    #[arg(long, help = fields_help(), help_heading = HEADING, value_name = "FIELDS")]
    fields: Option<String>,
}

impl SelectionArgs {
    pub(crate) fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// Prints the robots of a filter of names, or the hint if there are none.
    pub(crate) fn print(
        &self,
        names: Filter,
        hint: &str,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let catalogue = context.open_existing()?;
        let definition = catalogue.definition();
        let filter = self.filter.filter(names, &definition)?;
        let columns = Columns::parse(self.fields.as_deref(), &definition)?;
        if self.count {
            let count = catalogue.count(&filter)?;
            let printed = context.print(&format!("{count}\n"));
            return printed.map_err(Failure::output);
        }
        let hint = Some(hint).filter(|_| self.order.limit != Some(0));
        let pages = self.order.pages(catalogue, filter)?;
        context.print_pages(pages, &columns, hint)
    }
}
