//! Which robots a command reads, and in which order, as arguments.

use std::iter;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, builder::TypedValueParser};
use robot_core::{Comparison, Condition, Field, Filter, Pages, ParseSortError, Sort, Value};

use crate::{
    context::Context,
    failure::Failure,
    fields::{FieldList, fields_help, impl_args, requirement, value_name},
};

const HEADING: &str = "Selection";

/// Arguments that choose robots: the values of conditions.
#[derive(Debug)]
struct FilterArgs(Vec<(&'static Condition, Value<'static>)>);

impl_args!(FilterArgs);

impl FilterArgs {
    fn add_to(command: Command) -> Command {
        command.args(conditions().map(|condition| {
            let field = condition.field();
            let parse = move |text: &str| {
                let value = condition.parse(text).map(Value::into_owned);
                value.ok_or_else(|| requirement(field))
            };
            Arg::new(condition.name())
                .long(condition.name().replace('_', "-"))
                .help(condition.description())
                .help_heading(HEADING)
                .value_name(value_name(field))
                .action(if condition.is_repeatable() {
                    ArgAction::Append
                } else {
                    ArgAction::Set
                })
                .value_parser(parse)
        }))
    }

    fn read(matches: &ArgMatches) -> Self {
        let values = conditions().flat_map(|condition| {
            let values = matches.get_many(condition.name()).into_iter().flatten();
            values.map(move |value: &Value<'static>| (condition, value.clone()))
        });
        Self(values.collect())
    }
}

/// The conditions that have an argument: choices, and the ends of ranges.
fn conditions() -> impl Iterator<Item = &'static Condition> {
    let conditions = Condition::all().iter();
    conditions.filter(|one| one.is_repeatable() || one.comparison() != Comparison::Is)
}

impl FilterArgs {
    /// The filter of these arguments and one of names.
    fn filter(&self, names: Filter) -> Filter {
        let conditions = self.0.iter().cloned();
        conditions.fold(names, |filter, (condition, value)| {
            filter.and(condition, value)
        })
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
    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter(self.comparison.names(&self.containing))
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

/// Arguments that choose robots, and their order.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    filter: FilterArgs,

    #[arg(
        long,
        help = format!("Order: {}; with a hyphen, the greatest is first", Sort::names()),
        help_heading = HEADING,
        value_name = "ORDER",
        default_value = "name",
        hide_default_value = true,
        allow_hyphen_values = true,
        value_parser = clap::builder::StringValueParser::new()
            .try_map(|text| text.parse::<Sort>().map_err(|ParseSortError| format!("the order is {}", Sort::names())))
    )]
    sort: Sort,

    /// The maximum number of robots
    #[arg(long, help_heading = HEADING, value_name = "NUMBER")]
    limit: Option<usize>,

    /// Print only how many robots there are
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["sort", "limit", "fields"])]
    count: bool,

    #[arg(
        long,
        help = fields_help(),
        help_heading = HEADING,
        value_name = "FIELDS",
        default_value = Field::names(Field::DEFAULT),
        value_parser = Field::list
    )]
    fields: FieldList,
}

impl SelectionArgs {
    /// Whether types or years are chosen.
    pub(crate) fn has_filter(&self) -> bool {
        self.filter.filter(Filter::all()) != Filter::all()
    }

    /// Prints the robots of a filter of names, or the hint if there are none.
    pub(crate) fn print(
        &self,
        names: Filter,
        hint: &str,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let hint = Some(hint).filter(|_| self.limit != Some(0));
        let (catalogue, filter) = (context.open_existing()?, self.filter.filter(names));
        if self.count {
            let count = catalogue.count(&filter)?;
            let printed = context.print(&format!("{count}\n"));
            return printed.map_err(Failure::output);
        }
        let mut missing = self.limit.unwrap_or(usize::MAX);
        let pages = Pages::new(catalogue, filter).sorted(self.sort);
        let mut pages = pages.page_size(missing.min(PAGE_SIZE));
        let pages = iter::from_fn(|| {
            if missing == 0 {
                return None;
            }
            let page = pages.next()?.map(|mut robots| {
                robots.truncate(missing);
                missing -= robots.len();
                robots
            });
            Some(page)
        });
        context.print_pages(pages, &self.fields, hint)
    }
}

/// The maximum number of robots that are read at once.
const PAGE_SIZE: usize = 1000;
