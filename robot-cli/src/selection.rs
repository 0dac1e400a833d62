//! Which robots a command reads, and in which order, as arguments.

use std::sync::Arc;

use clap::Args;
use robot_core::{
    Catalogue, CatalogueExt, Condition, Definition, Field, Filter, Pages, Robot, Sort,
};

use crate::{
    context::Context,
    error::CliError,
    fields::{PAIR, PrintedFields, did_you_mean, fields_help, find, invalid, pair},
};

/// The hint of conditions that no robot meets.
pub(crate) const NO_MATCH: &str =
    "No robot meets these conditions. List all robots with: robot-cli list";

const HEADING: &str = "Selection";

fn help_of(condition: &str) -> String {
    let mut conditions = Definition::built_in().conditions();
    let condition = conditions.find(|one| one.name() == condition);
    condition.map_or_else(String::new, |condition| condition.description())
}

/// The robots of a filter that meet a condition, too.
fn and(filter: Filter, name: &str, text: &str, definition: &Definition) -> Result<Filter, String> {
    let known: Vec<_> = definition.conditions().collect();
    let condition = find(name, "conditions", &known, Condition::name)?;
    let value = condition.parse(text)?;
    if filter.excludes(&condition) {
        return Err(format!(
            "it and another condition for {} exclude each other; give one of them",
            condition.field()
        ));
    }
    Ok(filter.and(condition, value))
}

/// Conditions for any fields, and words.
#[derive(Debug, Args)]
pub(crate) struct ConditionArgs {
    #[arg(
        long = "where",
        help = "Only robots with this value of a field; repeat it for several. FIELD_from and FIELD_to \
                begin and end a range, FIELD_not excludes a value, FIELD_contains finds a part of a text; \
                an empty VALUE is none",
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
        let words = Filter::all().with_words(words, Definition::built_in());
        self.conditions.is_empty() && words.is_met_by_all()
    }

    /// The robots of a filter that meet the conditions, too.
    pub(crate) fn filter(
        &self,
        mut filter: Filter,
        catalogue: &dyn Catalogue,
    ) -> Result<Filter, CliError> {
        let definition = &catalogue.definition();
        if let Some(words) = &self.words {
            filter = filter.with_words(words, definition);
        }
        let filter = self.conditions.iter().try_fold(filter, |filter, text| {
            let filter = pair(text).and_then(|(name, value)| and(filter, name, value, definition));
            filter.map_err(|message| invalid("where", text, message))
        })?;
        match catalogue.unknown_choice(&filter)? {
            Some(message) => Err(CliError::usage(message)),
            None => Ok(filter),
        }
    }
}

/// Arguments that choose robots by the values of their fields. Those for built-in fields have names of
/// their own.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    #[arg(long = "type", help = help_of("type"), help_heading = HEADING, value_name = "TYPE")]
    types: Vec<String>,

    #[arg(long, help = help_of("year_from"), help_heading = HEADING, value_name = "YEAR")]
    #[arg(allow_negative_numbers = true)]
    year_from: Option<String>,

    #[arg(long, help = help_of("year_to"), help_heading = HEADING, value_name = "YEAR")]
    #[arg(allow_negative_numbers = true)]
    year_to: Option<String>,

    #[command(flatten)]
    conditions: ConditionArgs,
}

impl FilterArgs {
    /// The names and values of the conditions for built-in fields.
    fn built_in(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let types = self.types.iter().map(|text| ("type", text));
        let from = self.year_from.iter().map(|text| ("year_from", text));
        let to = self.year_to.iter().map(|text| ("year_to", text));
        types.chain(from).chain(to)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.built_in().next().is_none() && self.conditions.is_empty()
    }

    /// The filter of these arguments and one of names.
    fn filter(&self, names: Filter, catalogue: &dyn Catalogue) -> Result<Filter, CliError> {
        let definition = &catalogue.definition();
        let filter = self.built_in().try_fold(names, |filter, (name, text)| {
            let filter = and(filter, name, text, definition);
            filter.map_err(|message| invalid(&name.replace('_', "-"), text, message))
        })?;
        self.conditions.filter(filter, catalogue)
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
        self.comparison.names(&self.containing).is_met_by_all() && self.filter.is_empty()
    }

    pub(crate) fn filter(&self, catalogue: &dyn Catalogue) -> Result<Filter, CliError> {
        let names = self.comparison.names(&self.containing);
        self.filter.filter(names, catalogue)
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
            "Order: {}, or another field; with a hyphen, the greatest is first [default: name, for exports id]",
            Sort::names(Definition::built_in())
        ),
        help_heading = HEADING,
        value_name = "ORDER",
        allow_hyphen_values = true
    )]
    sort: Option<String>,

    /// The maximum number of robots
    #[arg(long, help_heading = HEADING, value_name = "NUMBER")]
    limit: Option<usize>,
}

/// The maximum number of robots that are read at once.
const PAGE_SIZE: usize = 1000;

impl OrderArgs {
    /// The robots of a filter with these fields, up to the number, and in the order or, without one, the given one.
    pub(crate) fn pages(
        &self,
        catalogue: Arc<dyn Catalogue>,
        filter: Filter,
        fields: &[Field],
        otherwise: &str,
    ) -> Result<impl Iterator<Item = robot_core::Result<Vec<Robot>>> + use<>, CliError> {
        let definition = catalogue.definition();
        let sort = self.sort.as_deref().unwrap_or(otherwise);
        let sort = Sort::parse(sort, &definition).map_err(|_| {
            let sortable = definition.sortable().map(Field::name);
            let hint = did_you_mean(sort.trim_start_matches('-'), sortable);
            let message = format!("the order is {}{hint}", Sort::names(&definition));
            invalid("sort", sort, message)
        })?;
        let limit = self.limit.unwrap_or(usize::MAX);
        let size = limit.clamp(1, PAGE_SIZE);
        let pages = Pages::new(catalogue, filter).sorted(sort).page_size(size);
        let pages = pages.with_fields(fields.to_vec().into());
        let pages = pages.take(limit.div_ceil(size)).enumerate();
        Ok(pages.map(move |(index, page)| {
            let mut robots = page?;
            robots.truncate(limit - index * size);
            Ok(robots)
        }))
    }
}

/// Arguments that choose robots, their order and their fields.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    #[command(flatten)]
    order: OrderArgs,

    /// Print only how many robots there are
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["sort", "limit", "fields"])]
    count: bool,

    #[arg(long, help = fields_help(), help_heading = HEADING, value_name = "FIELDS")]
    fields: Option<String>,
}

impl SelectionArgs {
    /// Prints the robots of a filter of names, or the hint if there are none.
    pub(crate) fn print(
        &self,
        names: Filter,
        hint: &str,
        context: &mut Context<'_>,
    ) -> Result<(), CliError> {
        let catalogue = context.open_existing()?;
        let definition = catalogue.definition();
        let filter = self.filter.filter(names, &*catalogue)?;
        let columns = PrintedFields::parse(self.fields.as_deref(), &definition)?;
        if self.count {
            let count = catalogue.count(&filter)?;
            return context.print(&format!("{count}\n"), CliError::output);
        }
        let hint = Some(hint).filter(|_| self.order.limit != Some(0));
        let fields = &columns.fields;
        let pages = self
            .order
            .pages(catalogue, filter, fields, Field::NAME.name())?;
        context.print_pages(pages, &columns, hint)
    }
}
