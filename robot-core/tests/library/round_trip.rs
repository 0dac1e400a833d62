//! Property tests: robots that are written and read again are equal, and any input can be read.

use std::sync::Arc;

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{
    CatalogueExt, Definition, Draft, Field, MemoryCatalogue, Pages,
    transfer::{Format, ImportOptions, Position, Records, RobotWriter, import},
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
    (name(), select(Field::TYPE.choices()), year)
        .prop_map(|(name, kind, year)| Draft::new(name, kind, year))
}

/// The robots of a catalogue in a format.
fn written(catalogue: &MemoryCatalogue, format: Format, fields: &[Field]) -> Vec<u8> {
    let mut writer = RobotWriter::new(format).fields(fields.to_vec());
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

/// Orders of the fields that an import needs, with and without the id.
const ORDERS: [&str; 4] = [
    "id,name,type,year",
    "name,type,year",
    "year,name,id,type",
    "type,year,name",
];

proptest! {
    #[test]
    fn written_catalogue_is_read_again_equal(
        robots in vec(draft(), 0..20),
        format in select(&Format::ALL[..]),
        order in select(&ORDERS[..]),
    ) {
        let catalogue = MemoryCatalogue::new();
        for draft in robots {
            // Fails if the name is taken.
            let _ = catalogue.add(draft);
        }
        let fields = Definition::built_in().list(order).unwrap();
        let bytes = written(&catalogue, format, &fields);

        let copy = Arc::new(MemoryCatalogue::new());
        let records = Records::new(&*bytes, format);
        for outcome in import(Arc::clone(&copy), records, ImportOptions::default()) {
            prop_assert!(outcome.result.is_ok(), "{outcome:?}");
        }
        prop_assert_eq!(drafts(&copy), drafts(&catalogue));
        prop_assert_eq!(
            written(&copy, format, &Field::DEFAULT[1..]),
            written(&catalogue, format, &Field::DEFAULT[1..])
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
        format in select(&Format::ALL[..]),
    ) {
        let bytes = pieces.concat();
        let (mut last, mut count) = (1, 0);
        let lines = u64::try_from(bytes.split(|byte| *byte == b'\n').count()).unwrap();
        for record in Records::new(&*bytes, format) {
            let position = record.map_or_else(|error| error.position(), |record| record.position);
            count += 1;
            match position {
                Position::Line(line) => {
                    prop_assert!((last..=lines).contains(&line), "{line} after {last} of {lines}");
                    last = line;
                }
                Position::Record(number) => prop_assert_eq!(number, count),
                Position::All => prop_assert!(false, "a record has a place"),
            }
        }
    }
}
