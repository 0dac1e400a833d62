//! Which robots a command reads, and in which order, as arguments.

use std::{iter, ops::Bound};

use clap::{Args, builder::TypedValueParser};
use robot_core::{Field, Filter, Pages, ParseSortError, Sort};

use crate::{
    context::Context,
    failure::Failure,
    fields::{FieldList, fields_help, parse_year},
    output,
};

const HEADING: &str = "Selection";

/// Arguments that choose robots.
#[derive(Debug, Args)]
struct FilterArgs {
    /// Only robots of this type: droid, mechanical or virtual; repeat it for several types
    #[arg(long = "type", help_heading = HEADING, value_name = "TYPE", value_parser = parse_type)]
    types: Vec<String>,

    /// Only robots of this year or later
    #[arg(long, help_heading = HEADING, value_name = "YEAR", value_parser = parse_year)]
    year_from: Option<i64>,

    /// Only robots of this year or earlier
    #[arg(long, help_heading = HEADING, value_name = "YEAR", value_parser = parse_year)]
    year_to: Option<i64>,
}

impl FilterArgs {
    /// The filter of these arguments and one of names.
    fn filter(&self, names: Filter) -> Filter {
        let years = (
            self.year_from.map_or(Bound::Unbounded, Bound::Included),
            self.year_to.map_or(Bound::Unbounded, Bound::Included),
        );
        let filter = names.years(years);
        self.types.iter().cloned().fold(filter, Filter::of_type)
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
    ignore_case: bool,
}

impl ComparisonArgs {
    pub(crate) fn ignores_case(&self) -> bool {
        self.ignore_case
    }

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

    /// Order: name, -name, year, -year, id or -id; with a hyphen, the greatest is first
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "ORDER",
        default_value = "name",
        hide_default_value = true,
        allow_hyphen_values = true,
        value_parser = clap::builder::StringValueParser::new()
            .try_map(|text| text.parse::<Sort>().map_err(|ParseSortError| "the order is name, -name, year, -year, id or -id"))
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
        default_value_t
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
            return writeln!(context.output, "{count}")
                .and_then(|()| context.output.flush())
                .map_err(Failure::Output);
        }
        let pages = Pages::new(catalogue, filter).sorted(self.sort);
        let (fields, format) = (self.fields.0.clone(), context.print_format());
        let Some(mut missing) = self.limit else {
            return output::print_pages(pages, fields, format, hint, context.output);
        };
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
        output::print_pages(pages, fields, format, hint, context.output)
    }
}

/// The maximum number of robots that are read at once.
const PAGE_SIZE: usize = 1000;

fn parse_type(text: &str) -> Result<String, String> {
    let choices = Field::TYPE.choices();
    if choices.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("the type is one of: {}", choices.join(", ")))
    }
}
