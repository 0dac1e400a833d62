//! Evidence about a column: what its values have in common.

use std::collections::{BTreeMap, BTreeSet};

use super::{columns::Meaning, names::Names, position::RecordPosition, record::Cell};
use crate::model::{
    CHOICE_LIMIT, DateOrder, Format, NAME_LENGTH_LIMIT, NULLS, NamedFormat, Reading, excerpt, whole,
};

/// The maximum number of different numbers of a column that are compared. Lower, and more columns become texts because
/// two of their texts may be the same number; higher, and a plan needs more memory.
const NUMBERS: usize = 20_000;

/// What the values of a column may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Guess {
    Integer,
    Number,
    DecimalComma,
    Boolean,
    /// Texts of a format, with dates in an order.
    Format(&'static NamedFormat, Option<DateOrder>),
    Text,
}

impl Guess {
    /// All, the most special first.
    fn all() -> impl Iterator<Item = Self> {
        let [first, second] = DateOrder::ALL;
        let formats = Format::NAMED.iter().flat_map(move |format| {
            [None, Some(first), Some(second)].map(|order| Self::Format(format, order))
        });
        let numbers = [Self::Integer, Self::Number, Self::DecimalComma].into_iter();
        let others = numbers.chain([Self::Boolean]);
        others.chain(formats).chain([Self::Text])
    }

    /// Whether values are texts that are read as they are.
    pub(super) fn is_text(self) -> bool {
        match self {
            Self::Format(format, _) => !format.is_time,
            guess => guess == Self::Text,
        }
    }

    fn fits_text(self, text: &str) -> bool {
        match self {
            Self::Integer => is_number(text) && text.parse::<i64>().is_ok(),
            Self::Number => is_number(text),
            Self::DecimalComma => !text.contains('.') && is_number(&text.replace(',', ".")),
            Self::Boolean => ["true", "false", "yes", "no"]
                .iter()
                .any(|word| text.eq_ignore_ascii_case(word)),
            Self::Format(format, order) => (format.read)(text, order).is_some(),
            Self::Text => true,
        }
    }

    /// Whether a value of JSON that is no text is one.
    fn fits_json(self, json: &str) -> bool {
        match self {
            Self::Integer => whole(json).parse::<i64>().is_ok(),
            Self::Number => is_number(json),
            Self::Boolean => matches!(json, "true" | "false"),
            _ => false,
        }
    }
}

/// A column, or the members of JSON records with a name.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) heading: String,
    /// The number of the column, from 1.
    pub(super) number: usize,
    pub(super) meaning: Meaning,
    /// How the user has said that texts are read.
    reading: Reading,
    /// The number of records that have a value.
    pub(super) values: u64,
    /// The numbers of texts that the user has said to mean no value.
    pub(super) emptied: BTreeMap<String, u64>,
    /// What the values are not, in the order in which that was found, and the value that excludes it.
    excluded: Vec<(Guess, String)>,
    first: Option<String>,
    /// The texts that may mean no value, and the first value of such a text.
    pub(super) nulls: Vec<(&'static str, String)>,
    numbers: Numbers,
    /// Whether each number has three digits after its point, which may separate thousands.
    pub(super) may_be_thousands: bool,
    /// The first value that is no integer.
    pub(super) not_integer: Option<String>,
    /// The maximum number of characters.
    pub(super) length: usize,
    /// The least integer.
    pub(super) least: Option<i64>,
    /// The different values, unless a field cannot have so many choices.
    pub(super) choices: Option<BTreeSet<String>>,
    /// The difference of each value and the number of its record, if that is always the same.
    numbering: Option<i64>,
    /// The first value that occurs again, if that is looked for.
    pub(super) repeated: Option<String>,
    /// The first value that differs from an earlier one by blanks at its ends only.
    pub(super) blank_twin: Option<String>,
    texts: Option<Box<(Names, Names)>>,
}

impl Evidence {
    /// Evidence about a column. Repeated values are looked for if `is_key`.
    pub(super) fn new(
        heading: &str,
        number: usize,
        meaning: Meaning,
        reading: Reading,
        is_key: bool,
    ) -> Self {
        Self {
            heading: heading.trim().to_owned(),
            number,
            meaning,
            reading,
            may_be_thousands: true,
            choices: Some(BTreeSet::new()),
            texts: is_key.then(Box::default),
            ..Self::default()
        }
    }

    /// The index of the column.
    pub(super) fn index(&self) -> usize {
        self.number - 1
    }

    pub(super) fn add(&mut self, position: RecordPosition, record: u64, cell: Cell<'_>) {
        let (raw, is_json) = match cell {
            Cell::Text(text) => (String::from_utf8_lossy(text), false),
            Cell::Json("null") => return,
            Cell::Json(json) => match serde_json::from_str::<String>(json) {
                Ok(text) => {
                    return self.add_text(position, &text, |guess| {
                        matches!(guess, Guess::Format(_, None) | Guess::Text)
                            && guess.fits_text(&text)
                    });
                }
                Err(_) => (json.into(), true),
            },
        };
        let Some(text) = self.reading.present(&raw, true) else {
            if !raw.trim().is_empty() {
                *self.emptied.entry(raw.trim().to_owned()).or_default() += 1;
            }
            return;
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        if let Some(null) = NULLS.into_iter().find(|null| *null == trimmed && !is_json) {
            if !self.nulls.iter().any(|(known, _)| *known == null) {
                self.nulls.push((null, sample(position, trimmed)));
            }
            self.add_choice(trimmed);
            self.length = self.length.max(trimmed.len());
            return;
        }
        self.count_records(record, trimmed);
        if is_json {
            self.add_text(position, trimmed, |guess| guess.fits_json(trimmed));
        } else {
            let collides = self.numbers.collides(trimmed);
            self.add_text(position, text, |guess| {
                let is_number =
                    matches!(guess, Guess::Integer | Guess::Number | Guess::DecimalComma);
                !(is_number && collides)
                    && guess.fits_text(if guess == Guess::Text { text } else { trimmed })
            });
        }
    }

    fn add_text(&mut self, position: RecordPosition, text: &str, fits: impl Fn(Guess) -> bool) {
        self.values += 1;
        self.first.get_or_insert_with(|| sample(position, text));
        for guess in Guess::all() {
            if self.can_be(guess) && !fits(guess) {
                self.excluded.push((guess, sample(position, text)));
            }
        }
        let trimmed = text.trim();
        match trimmed.parse::<i64>() {
            Ok(integer) if fits(Guess::Integer) => {
                self.least = Some(self.least.map_or(integer, |least| least.min(integer)));
            }
            _ if whole(trimmed).parse::<i64>().is_ok() => {}
            _ => {
                self.not_integer
                    .get_or_insert_with(|| sample(position, text));
            }
        }
        let decimals = trimmed
            .split_once(['.', ','])
            .map_or("", |(_, decimals)| decimals);
        self.may_be_thousands &= decimals.len() == 3 && !trimmed.starts_with('0');
        self.length = self.length.max(text.chars().count());
        self.add_choice(trimmed);
        if let Some(texts) = &mut self.texts {
            let is_new = texts.0.insert(text).0;
            let is_twin = !texts.1.insert(trimmed).0 && is_new;
            if !is_new {
                self.repeated
                    .get_or_insert_with(|| excerpt(text).into_owned());
            } else if is_twin {
                self.blank_twin
                    .get_or_insert_with(|| sample(position, text));
            }
        }
    }

    fn add_choice(&mut self, text: &str) {
        if let Some(choices) = &mut self.choices
            && !choices.contains(text)
        {
            choices.insert(text.to_owned());
            let is_long = text.chars().count() > NAME_LENGTH_LIMIT;
            self.choices
                .take_if(|choices| is_long || choices.len() > CHOICE_LIMIT);
        }
    }

    fn count_records(&mut self, record: u64, text: &str) {
        let record = i64::try_from(record).unwrap_or(i64::MAX);
        let offset = text.parse().map(|number: i64| number.wrapping_sub(record));
        let offset = offset.ok().filter(|offset| matches!(offset, -1 | 0));
        if self.values == 0 {
            self.numbering = offset;
        } else if self.numbering != offset {
            self.numbering = None;
        }
    }

    /// Whether the values number the records.
    pub(super) fn is_numbering(&self) -> bool {
        self.numbering.is_some()
    }

    pub(super) fn can_be(&self, guess: Guess) -> bool {
        !self.excluded.iter().any(|(excluded, _)| *excluded == guess)
    }

    /// The orders of day and month that the values may have.
    fn orders(&self, format: &'static NamedFormat) -> impl Iterator<Item = DateOrder> {
        let orders = DateOrder::ALL.into_iter();
        orders.filter(move |order| self.can_be(Guess::Format(format, Some(*order))))
    }

    /// The order of day and month, if it is clear.
    pub(super) fn order(&self, format: &'static NamedFormat) -> Option<DateOrder> {
        let order = self.orders(format).next();
        order.filter(|_| self.orders(format).count() == 1)
    }

    /// What the values are, in a file whose separator may be a comma: texts if they have no kind in common, or
    /// their day and month cannot be told apart. `None` for values that are of different types in JSON.
    pub(super) fn guess(&self, has_commas: bool, dates: Option<DateOrder>) -> Option<Guess> {
        let is_possible = |guess: &Guess| {
            let is_right = match guess {
                Guess::DecimalComma => !has_commas,
                Guess::Format(format, Some(order)) => {
                    dates.or_else(|| self.order(format)) == Some(*order)
                }
                _ => true,
            };
            is_right && self.can_be(*guess)
        };
        if self.values == 0 {
            return Some(Guess::Text);
        }
        Guess::all().find(is_possible)
    }

    /// Why the values are of a kind, perhaps with choices: the value that decided.
    pub(super) fn reason(&self, guess: Guess, are_choices: bool) -> String {
        let first = self.first.clone().unwrap_or_default();
        let decider = |is_other: &dyn Fn(Guess) -> bool| {
            let mut excluded = self.excluded.iter().rev();
            let found = excluded.find(|(guess, _)| is_other(*guess));
            found.map(|(_, sample)| sample.as_str())
        };
        let is_ambiguous = Format::NAMED
            .iter()
            .any(|format| self.orders(format).count() > 1);
        match guess {
            _ if self.values == 0 => "no record has a value".to_owned(),
            Guess::Text if is_ambiguous => format!(
                "a text, because the day or the month may come first in {first}: add --dates dmy or --dates mdy"
            ),
            Guess::Text if are_choices => format!("a few texts that repeat, such as {first}"),
            Guess::Text => {
                let value = decider(&|guess| !guess.is_text()).or_else(|| decider(&|_| true));
                format!("a text because of {}", value.unwrap_or(&first))
            }
            Guess::Number | Guess::DecimalComma => {
                let value = decider(&|guess| guess == Guess::Integer).unwrap_or(&first);
                let comma = if guess == Guess::DecimalComma {
                    " with a decimal comma"
                } else {
                    ""
                };
                let warning = if self.may_be_thousands {
                    "; if its last three digits are thousands, correct the file"
                } else {
                    ""
                };
                format!("a number{comma} because of {value}{warning}")
            }
            _ => format!("this type fits each value, such as {first}"),
        }
    }
}

/// A value, and where it is.
fn sample(position: RecordPosition, text: &str) -> String {
    format!("'{}' ({position})", excerpt(text))
}

/// The different numbers of a column, by their values and by their texts, and the forms that all texts have. Two texts of
/// one form are never the same number.
#[derive(Debug, Default)]
struct Numbers {
    values: Names,
    texts: Names,
    count: usize,
    /// Whether a text is not the shortest one of its number, and whether it is not the one with at least one decimal.
    has_other: [bool; 2],
    /// The number of decimals of the first text, and whether another text has another one.
    decimals: Option<usize>,
    has_other_decimals: bool,
}

impl Numbers {
    /// Whether an earlier text is another one of the same number, such as `1.10` and `1.1`, or may be if there are too many.
    fn collides(&mut self, text: &str) -> bool {
        let text = text.replace(',', ".");
        let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return false;
        };
        let shortest = number.to_string();
        let decimals = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        self.has_other[0] |= text != shortest;
        self.has_other[1] |= text != shortest && text.strip_suffix(".0") != Some(&shortest)
            || text == shortest && number.fract() == 0.0;
        self.has_other_decimals |= *self.decimals.get_or_insert(decimals) != decimals;
        if self.count >= NUMBERS {
            return self.has_other_decimals && self.has_other == [true; 2];
        }
        let is_new = self.texts.insert(&text).0;
        let has_new_value = self.values.insert(&shortest).0;
        self.count += usize::from(is_new);
        is_new && !has_new_value
    }
}

/// Whether a text is a number that is stored with all its digits. Leading zeros would be lost.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut characters = unsigned.chars();
    let (first, second) = (characters.next(), characters.next());
    let begins = first.is_some_and(|first| first.is_ascii_digit() || first == '.');
    let has_zero = first == Some('0') && second.is_some_and(|second| second.is_ascii_digit());
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match number {
        Some(number) if begins && !has_zero => {
            unsigned.len() <= 15 || digits(unsigned) == digits(&format!("{:e}", number.abs()))
        }
        _ => false,
    }
}

/// The digits of a number without zeros at both ends, and the exponent of the last one.
fn digits(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{decimals}");
    let kept = all.trim_end_matches('0');
    let exponent =
        exponent.parse().unwrap_or(0) - signed(decimals.len()) + signed(all.len() - kept.len());
    (kept.trim_start_matches('0').to_owned(), exponent)
}

fn signed(length: usize) -> i64 {
    length.try_into().unwrap_or(i64::MAX)
}
