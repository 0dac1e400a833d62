//! Filters, read from parameters and written as parameters.

use std::borrow::Cow;

use crate::{
    catalogue::{
        Catalogue, CatalogueExt,
        Comparison::{self, Contains, From, Is, Not, To},
        Filter,
    },
    http::{failure::Failure, parameters::Arguments},
    model::{Definition, Member},
};

/// The maximum number of words that robots must have.
const WORD_LIMIT: usize = 16;

/// A parameter and its value, which is not encoded.
pub(super) type Parameter = (Cow<'static, str>, String);

/// The robots that a query chooses.
pub(crate) fn filter(arguments: &Arguments, definition: &Definition) -> Result<Filter, Failure> {
    let mut filter = Filter::from(arguments.text("containing").unwrap_or_default());
    for argument in &arguments.0 {
        let Some(condition) = &argument.condition else {
            continue;
        };
        let value = condition
            .parse(&argument.value)
            .map_err(Failure::malformed)?;
        if filter.excludes(condition) {
            let field = &condition.field;
            return Err(Failure::malformed(format!(
                "{field} excludes {field}_from and {field}_to; give either it or them"
            )));
        }
        filter = filter.and(condition.clone(), value);
    }
    let reversed = filter.fields.iter().find(|range| {
        let limits = range.from.as_ref().zip(range.to.as_ref());
        limits.is_some_and(|(from, to)| from.compare(to).is_gt())
    });
    if let Some(range) = reversed {
        let field = &range.field;
        return Err(Failure::malformed(format!(
            "{field}_from must not be greater than {field}_to"
        )));
    }
    if arguments.flag("fold")? {
        filter = filter.folded();
    }
    if let Some(words) = arguments.text("q") {
        filter = filter.with_words(words, definition);
        if filter.words().len() > WORD_LIMIT {
            return Err(Failure::malformed(format!(
                "q must have at most {WORD_LIMIT} different words"
            )));
        }
    }
    Ok(filter)
}

/// The parameters by which [`filter`] reads an equal filter.
pub(super) fn parameters(filter: &Filter) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if !filter.containing.is_empty() {
        parameters.push(("containing".into(), filter.containing.clone()));
    }
    if filter.is_folded {
        parameters.push(("fold".into(), true.to_string()));
    }
    if !filter.words().is_empty() {
        parameters.push(("q".into(), filter.words().join(" ")));
    }
    for conditions in filter.fields() {
        let field = &conditions.field;
        let parameter = |comparison: Comparison, text: String| {
            (format!("{field}{}", comparison.end()).into(), text)
        };
        for (comparison, values) in [(Is, &conditions.any_of), (Not, &conditions.none_of)] {
            let texts = values
                .iter()
                .map(|value| value.as_ref().map(ToString::to_string));
            parameters.extend(texts.map(|text| parameter(comparison, text.unwrap_or_default())));
        }
        let texts = conditions.containing.iter();
        parameters.extend(texts.map(|text| parameter(Contains, text.clone())));
        let limits = [&conditions.from, &conditions.to];
        if let [Some(from), Some(to)] = limits
            && from == to
            && field.member() == Member::Year
        {
            parameters.push((field.name().to_owned().into(), from.to_string()));
            continue;
        }
        for (comparison, value) in [From, To].into_iter().zip(limits) {
            let value = value.as_ref().map(ToString::to_string);
            parameters.extend(value.map(|value| parameter(comparison, value)));
        }
    }
    parameters
}

/// Fails if a filter names a value that is no choice, and that no robot has.
pub(crate) fn check_choices(catalogue: &dyn Catalogue, filter: &Filter) -> Result<(), Failure> {
    match catalogue.unknown_choice(filter)? {
        Some(message) => Err(Failure::malformed(message)),
        None => Ok(()),
    }
}
