//! Property tests: robots that are written and read again are equal, and any input can be read.

use std::sync::Arc;

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{
    Catalogue, CatalogueExt, Draft, Field, MemoryCatalogue, Pages, Redefinition, Value,
    transfer::{Columns, FileFormat, ImportOptions, RecordPosition, Records, RobotWriter, import},
};

/// Parts of names with a special meaning in formats, spreadsheets or editors, separated by `|`.
const SPECIAL: &str = "\"|\"\"|,|;|\n|\r|\r\n|\\|\\\"|\t| |=1+1|@|'|\u{1}|\u{7f}|\u{feff}|\u{2028}|🤖|\
                       e\u{301}|{|]|name|\u{10ffff}";

fn special() -> impl Strategy<Value = String> {
    let parts: Vec<_> = SPECIAL.split('|').map(str::to_owned).collect();
    select(parts)
}

fn name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => special(),
        1 => any::<char>().prop_filter("names have no NUL", |character| *character != '\0')
            .prop_map(String::from),
    ];
    vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

fn draft() -> impl Strategy<Value = Draft> {
    let year = prop_oneof![Just(0), Just(i64::MAX), 0..3000_i64];
    (
        name(),
        select(Field::TYPE.choices()),
        year,
        vec(own(), 0..3),
    )
        .prop_map(|(name, kind, year, own)| {
            let mut draft = Draft::new(name, kind, year);
            for (field, value) in own {
                draft.set(field, value);
            }
            draft
        })
}

const OWN: &str = r#"{"properties": {
    "maker": {"type": "string"}, "weight": {"type": "number"}, "parts": {"type": "integer"},
    "lent": {"type": "boolean"}, "state": {"enum": ["good", "\"fair\", or poor"]}}}"#;

/// A value of one of these fields.
fn own() -> impl Strategy<Value = (&'static str, Value<'static>)> {
    let finite = prop_oneof![any::<f64>(), (-99..99).prop_map(f64::from)];
    let finite = finite.prop_filter_map("not finite", Value::number);
    prop_oneof![
        3 => name().prop_map(|text| ("maker", text.into())),
        3 => finite.prop_map(|number| ("weight", number)),
        1 => any::<i64>().prop_map(|integer| ("parts", integer.into())),
        1 => any::<bool>().prop_map(|boolean| ("lent", boolean.into())),
        1 => Just(("state", "\"fair\", or poor".into())),
    ]
}

/// An empty catalogue with these fields.
fn defined() -> MemoryCatalogue {
    let catalogue = MemoryCatalogue::new();
    let definition = OWN.parse().unwrap();
    catalogue.define(Redefinition::new(definition)).unwrap();
    catalogue
}

/// The robots of a catalogue in a format.
fn written(catalogue: &MemoryCatalogue, format: FileFormat, fields: &[Field]) -> Vec<u8> {
    write(catalogue, RobotWriter::new(format, fields.to_vec()))
}

fn write(catalogue: &MemoryCatalogue, mut writer: RobotWriter) -> Vec<u8> {
    let mut bytes = Vec::new();
    for page in Pages::new(catalogue, "").page_size(3) {
        writer.write(&page.unwrap(), &mut bytes).unwrap();
    }
    writer.finish(&mut bytes).unwrap();
    bytes
}

fn drafts(catalogue: &MemoryCatalogue) -> Vec<Draft> {
    let robots = catalogue.list().unwrap();
    robots.into_iter().map(Draft::from).collect()
}

/// The formats that keep each text as it is. XML has no control characters.
const TEXTS: [FileFormat; 3] = [FileFormat::Csv, FileFormat::Json, FileFormat::Ndjson];

/// Orders of the fields that an import needs, with and without the id.
const ORDERS: [&str; 4] = [
    "id,name,type,year,maker,weight,parts,lent,state",
    "name,type,year,maker,weight,parts,lent,state",
    "lent,year,weight,name,id,maker,type,state,parts",
    "*",
];

proptest! {
    #[test]
    fn written_catalogue_is_read_again_equal(
        robots in vec(draft(), 0..20),
        format in select(&TEXTS[..]),
        order in select(&ORDERS[..]),
        is_for_spreadsheets: bool,
        has_titles: bool,
    ) {
        let catalogue = defined();
        let definition = catalogue.definition();
        for draft in robots {
            // Fails if the name is taken.
            let _ = catalogue.add(draft);
        }
        let fields = definition.list(order).unwrap();
        let mut writer = RobotWriter::new(format, fields);
        writer.is_for_spreadsheets = is_for_spreadsheets;
        if has_titles {
            writer = writer.with_titles(&definition);
        }
        let bytes = write(&catalogue, writer);

        let copy = Arc::new(defined());
        let records = Records::new(&*bytes, format).with_columns(Columns::of(Arc::clone(&definition)));
        for outcome in import(Arc::clone(&copy), records, ImportOptions::default()) {
            prop_assert!(outcome.result.is_ok(), "{outcome:?}");
        }
        prop_assert_eq!(drafts(&copy), drafts(&catalogue));
        prop_assert_eq!(
            written(&copy, format, definition.settable()),
            written(&catalogue, format, definition.settable())
        );
    }

    #[test]
    fn any_input_is_read_to_the_end(
        pieces in vec(
            prop_oneof![
                special().prop_map(String::into_bytes),
                select(&["[", "{}", "\"name\":", "name,type,year\n", "\"a\"", "1"][..])
                    .prop_map(|text| text.as_bytes().to_vec()),
                vec(any::<u8>(), 1..4),
            ],
            0..40,
        ),
        format in select(&TEXTS[..]),
    ) {
        let bytes = pieces.concat();
        let (mut last, mut count) = (1, 0);
        let lines = u64::try_from(bytes.split(|byte| b"\r\n".contains(byte)).count()).unwrap();
        for record in Records::new(&*bytes, format) {
            let position = record.map_or_else(|error| error.position(), |record| record.position);
            count += 1;
            match position {
                RecordPosition::Line(line) => {
                    prop_assert!((last..=lines).contains(&line), "{line} after {last} of {lines}");
                    last = line;
                }
                RecordPosition::Record(number) => prop_assert_eq!(number, count),
                RecordPosition::All => prop_assert!(false, "a record has a place"),
            }
        }
    }
}
