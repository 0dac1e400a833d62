//! Readers of files: records with line numbers, messages about invalid records, and read errors.

use std::io::{self, Cursor, Read};

use robot_core::{
    Definition, Draft,
    transfer::{
        Columns, FileFormat, Header, ImportError, RECORD_LIMIT, ReadOptions, RecordPosition,
        Records,
    },
};

/// Each record as a text: its line number, and the draft or the messages. The last one is the error
/// that ended reading, if there was one.
fn read(input: impl Read, format: FileFormat) -> Vec<String> {
    Records::new(input, format)
        .map(|record| match record {
            Ok(record) => match record.values.map(|values| values.draft) {
                Ok(draft) => format!("{}: {}", place(record.position), shown(&draft)),
                Err(messages) => {
                    let error = ImportError::Malformed(messages);
                    format!("{}! {error}", place(record.position))
                }
            },
            Err(error) => format!("{}!! {error}", place(error.position())),
        })
        .collect()
}

/// The number of a line, or the whole position.
fn place(position: RecordPosition) -> String {
    match position {
        RecordPosition::Line(line) => line.to_string(),
        RecordPosition::Record(_) | RecordPosition::All => position.to_string(),
    }
}

fn shown(draft: &Draft) -> String {
    let text = |text: Option<&str>| text.map_or("-".into(), |text| format!("{text:?}"));
    let year = draft.year.map_or("-".into(), |year| year.to_string());
    let (name, robot_type) = (draft.name.as_deref(), draft.robot_type.as_deref());
    format!("{} {} {year}", text(name), text(robot_type))
}

/// Asserts that a text is read as expected, at once and byte by byte.
#[track_caller]
fn reads(format: FileFormat, text: impl AsRef<[u8]>, expected: &[&str]) {
    let bytes = text.as_ref();
    assert_eq!(read(bytes, format), expected, "as a whole");
    assert_eq!(
        read(ByteByByte(Cursor::new(bytes)), format),
        expected,
        "byte by byte"
    );
}

/// Messages in tables.
const MESSAGES: [(&str, &str); 8] = [
    (
        "{object}",
        "The record must be a JSON object with name, type and year",
    ),
    (
        "{year}",
        "year must be an integer from 0 to 9223372036854775807",
    ),
    (
        "{invalid}",
        "The JSON is not valid here; nothing after it can be read",
    ),
    (
        "{truncated}",
        "What begins here does not end: the JSON is truncated or not valid",
    ),
    (
        "{unclosed}",
        "The record continues to the end of the input, because a closing quote is missing",
    ),
    (
        "{fields}",
        "The record has a different number of fields (4) than the header (3); \
                  put a field with commas, quotes or line breaks into quotes",
    ),
    (
        "{encoding}",
        "is not UTF-8; if the file is from a spreadsheet, add --encoding windows-1252, \
                    or in a request encoding=windows-1252",
    ),
    (
        "{columns}",
        "the first line must name the columns, separated by commas: name,type,year",
    ),
];

/// Asserts what is read from the inputs of a table. Each line has one, as a JSON string in which `\u007f` is a byte that is
/// not UTF-8, and after the arrow its records, separated by `|`.
#[track_caller]
fn assert_reads(format: FileFormat, table: &str) {
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (input, expected) = line.split_once(" ->").unwrap();
        let input: String = serde_json::from_str(input).unwrap();
        let bytes: Vec<u8> = input
            .bytes()
            .map(|byte| if byte == 0x7f { 0xff } else { byte })
            .collect();
        let expected = MESSAGES
            .iter()
            .fold(expected.to_owned(), |text, (short, message)| {
                text.replace(short, message)
            });
        let expected = expected
            .split(" | ")
            .map(str::trim)
            .filter(|record| !record.is_empty());
        reads(format, bytes, &expected.collect::<Vec<_>>());
    }
}

/// An input that returns one byte at a time, and is interrupted before each.
struct ByteByByte<'a>(Cursor<&'a [u8]>);

impl Read for ByteByByte<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.0.position();
        // The position counts twice per byte, because every other call is interrupted.
        if position.is_multiple_of(2) {
            self.0.set_position(position + 1);
            return Err(io::ErrorKind::Interrupted.into());
        }
        let index = usize::try_from(position / 2).unwrap();
        let Some(byte) = self.0.get_ref().get(index) else {
            return Ok(0);
        };
        buffer[0] = *byte;
        self.0.set_position(position + 1);
        Ok(1)
    }
}

#[test]
fn csv_records_have_the_lines_on_which_they_begin() {
    assert_reads(
        FileFormat::Csv,
        r#"
        "\ufeffname,type,year\r\n\r\n\"a\r\nb\",droid,1\r\n\n\n c ,droid,-2\n\"d\",droid,3" -> 3: "a\r\nb" "droid" 1 | 7: " c " "droid" -2 | 8: "d" "droid" 3
        "name,type,year\ra,droid,1\rb,droid,x\r" -> 2: "a" "droid" 1 | 3! {year}
        "name,type,year\n,droid,\n" -> 2: - "droid" -
        ",,\n\nname,type,year\n, ,\n,droid,\n" -> 5: - "droid" -"#,
    );
}

#[test]
fn quote_that_is_not_closed_fails_its_record() {
    assert_reads(
        FileFormat::Csv,
        r#"
        "name,type,year\n\"a,droid,1\nb,droid,2\nc\",droid,3,4\nd,droid,5\n" -> 2! {fields}; it continues for 2 more lines, perhaps because a closing quote is missing | 5: "d" "droid" 5
        "type,year,name\ndroid,1,a\ndroid,1977,\"R2-D2\ndroid,1977,C-3PO\n" -> 2: "a" "droid" 1 | 3! {unclosed}
        "type,year,name\ndroid,1,a\ndroid,1977,\"R2-D2" -> 2: "a" "droid" 1 | 3! {unclosed}
        "type,year,name\ndroid,1,a\ndroid,1977,\"" -> 2: "a" "droid" 1 | 3! {unclosed}
        "type,year,name\ndroid,1,a\ndroid,1977,\"\"\"" -> 2: "a" "droid" 1 | 3! {unclosed}
        "name,\"type" -> 1!! {unclosed}
        "type,year,name\ndroid,1977,\"R2-D2\"" -> 2: "R2-D2" "droid" 1977
        "name,type,year,size 3\"\na,droid,1,5\"\nb,droid,2,x\n" -> 2: "a" "droid" 1 | 3: "b" "droid" 2"#,
    );
}

#[test]
fn csv_reading_continues_after_an_invalid_record() {
    assert_reads(
        FileFormat::Csv,
        r#"
        "name,type,year\na,droid\nb,droid,1,2\n\u007f,droid,1\nc,\u007f,1977.0\nd,droid,1\n" -> 2: "a" "droid" - | 3! {fields} | 4! name {encoding} | 5! type {encoding} | 6: "d" "droid" 1"#,
    );
}

#[test]
fn csv_header_is_found_or_ends_reading() {
    assert_reads(
        FileFormat::Csv,
        r#"
        "name;year\na;1\n" -> 1!! Missing in the header: type; {columns}
        "Titel;Hersteller\na;b\n" -> 1!! The first line names no field, but Titel, Hersteller; the fields are name,type,year
        "\nname,type,name,year\na,droid,b,1\n" -> 2!! Two columns have the heading 'name'; rename one of them in the file
        "" -> 1!! The input is empty; the first line of CSV must name the columns: name,type,year
        "year,name,type\n" ->
        "\ufeffname,type,year,maker\r\nR2-D2,droid,1977,ACME" -> 2: "R2-D2" "droid" 1977
        "NAME; Type ;YEAR;Maker\nR2-D2;droid;1977;ACME" -> 2: "R2-D2" "droid" 1977
        "\"name\"\ttype\tyear\t\"made, or sold, by\"\r\nR2-D2\tdroid\t1977\tACME" -> 2: "R2-D2" "droid" 1977
        "name;type;year;Size (L, W, H, D);;\na;droid;1;x;;\nb;droid;2;x;;y\n" -> 2: "a" "droid" 1 | 3: "b" "droid" 2
        "name,type,year,\"a\nb\"\na,droid,1,x\n" -> 3: "a" "droid" 1"#,
    );
}

#[test]
fn records_without_header_have_the_lines_on_which_they_begin() {
    for (file, lines) in [
        ("a,b\nc,d\n", [1, 2]),
        ("\n,\n\"a\nb\",\nc,d\n", [3, 5]),
        ("sep=,\na,b\n\nc,d", [2, 4]),
    ] {
        let mut options = ReadOptions::default();
        options.header = Header::None;
        let columns = Columns::of(Definition::built_in().clone())
            .matching("name")
            .map("#1", "name");
        let records = Records::new(file.as_bytes(), FileFormat::Csv).with_options(&options);
        let positions = records
            .with_columns(columns)
            .map(|record| record.unwrap().position);
        assert!(positions.eq(lines.map(RecordPosition::Line)), "{file}");
    }
}

/// In UTF-16, with a byte too much at the end.
#[test]
fn text_that_ends_within_a_character_is_read_to_its_end() {
    let text = "\u{feff}name,type,year\nR2-D2,droid,1977\nC-3PO,droid,1977";
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let file: Vec<_> = units.chain([b'x']).collect();
    let records: Vec<_> = Records::new(&file[..], FileFormat::Csv).collect();
    assert_eq!(records.len(), 2);
    assert!(records[0].is_ok());
}

#[test]
fn json_array_is_read_element_by_element() {
    assert_reads(
        FileFormat::Json,
        r#"
        "\ufeff\n[\n{\"name\":\"R2, ]}\\\"\",\"type\":\"droid\",\n\"year\":1},{}\n,{\"x\":[{}],\"year\":2}]\n \n" -> 3: "R2, ]}\"" "droid" 1 | 4: - - - | 5: - - 2
        " [ ] " ->
        "[1,\n\"a,]\",\n[{}],{\"year\":\"1\",\"name\":5}]" -> record 1! {object} | 2! {object} | 3! {object} | record 4! name must be a string; {year}
        "\n[{\"a\":1,\"a\":2},{\"name\":\"\u007f\"},null,{\"year\":3}]" -> record 1! The record has the member 'a' twice; send it once | record 2! The record is not UTF-8 (at byte 9) | record 3! {object} | record 4: - - 3
        "[{\"year\":1e400},1e400,{}]" -> record 1! {year} | record 2! The record is not valid JSON (column 5) | record 3: - - -
        "\n [{},2,{}]" -> record 1: - - - | record 2! {object} | record 3: - - -
        "[{\n},\n1]" -> record 1: - - - | 3! {object}"#,
    );
}

#[test]
fn invalid_json_ends_reading_with_its_line() {
    assert_reads(
        FileFormat::Json,
        r#"
        "[{},\n{\"year\" 1},\n{}]" -> record 1: - - - | 2!! {invalid}
        "[{},\n{\"name\":\n'a'},{}]" -> record 1: - - - | 3!! {invalid}
        "[{},\n]" -> record 1: - - - | 2!! {invalid}
        "[{},\n,{}]" -> record 1: - - - | 2!! {invalid}
        "[{}\n}" -> record 1: - - - | 2!! {invalid}
        "[{},\n1 2,{}]" -> record 1: - - - | 2!! {invalid}
        "[{},\n\"x\"\n\"y\",{}]" -> record 1: - - - | 3!! {invalid}
        "[{},\n[1,],{}]" -> record 1: - - - | 2!! {invalid}
        "[{},\n{\"year\":\"1\"} 2,{}]" -> record 1: - - - | 2!! {invalid}
        "[{},{}x]" -> record 1: - - - | record 2!! {invalid}
        "[{},{} {}]" -> record 1: - - - | record 2!! {invalid}
        "[{},,{}]" -> record 1: - - - | record 2!! {invalid}
        "[{},{\"year\" 1}]" -> record 1: - - - | record 2!! {invalid}
        "[{},\n{]\n\n" -> record 1: - - - | 2!! {truncated}
        "[{},\n{\"name\":\n\"" -> record 1: - - - | 2!! {truncated}
        "[{},\n" -> record 1: - - - | 2!! {truncated}
        "[{},{" -> record 1: - - - | record 2!! {truncated}
        "[{}]\n[]" -> record 1: - - - | 2!! The JSON array is followed by something else; send one array
        "[\n{}\n" -> 2!! {truncated}
        "{}\n{}\n" -> 1!! The JSON is not an array of objects; for one object per line, use the format ndjson
        "" -> 1!! The input is empty; an empty JSON array is []"#,
    );
}

#[test]
fn ndjson_is_read_line_by_line() {
    assert_reads(
        FileFormat::Ndjson,
        r#"
        "\ufeff\r\n{\"name\":\"a\u2028\"}\r\n \t\n{\"year\":1}" -> 2: "a\u{2028}" - - | 4: - - 1
        "{\"name\":\n\"a\"}\n[]\n" -> 1! The record ends before its JSON does (column 8) | 2! {object} | 3! {object}
        "{\"year\":1} {}\n\u007f\n{\"year\":2}\n" -> 1! The record continues after its JSON object (column 12); send one object alone | 2! The record is not UTF-8 (at byte 0) | 3: - - 2"#,
    );
}

#[test]
fn reading_continues_after_a_record_that_is_too_long() {
    let long = "x".repeat(3 * RECORD_LIMIT);
    let message = format!("The record has more than {RECORD_LIMIT} bytes");
    reads(
        FileFormat::Ndjson,
        format!("{{}}\n{{\"x\":\"{long}\"}}\n{{}}\n"),
        &["1: - - -", &format!("2! {message}"), "3: - - -"],
    );
    reads(
        FileFormat::Json,
        format!("[{{}},\n{{\"x\":\"{long}]\"}},\n{{}}]"),
        &["record 1: - - -", &format!("2! {message}"), "3: - - -"],
    );
    let too_long = format!("{message} or 256 fields, perhaps because a closing quote is missing");
    reads(
        FileFormat::Csv,
        format!(
            "name,type,year\n\"a\n{long}\",,\na,{}\nb,,\n",
            ",".repeat(300)
        ),
        &[
            &format!("2! {too_long}"),
            &format!("4! {too_long}"),
            "5: \"b\" - -",
        ],
    );
}

#[test]
fn object_of_the_maximum_length_is_read() {
    let object = format!("{{\"x\":\"{}\"}}", "x".repeat(RECORD_LIMIT - 8));
    assert_eq!(object.len(), RECORD_LIMIT);
    reads(FileFormat::Ndjson, &object, &["1: - - -"]);
    reads(
        FileFormat::Json,
        format!("[{object}]"),
        &["record 1: - - -"],
    );
}

#[test]
fn failing_input_ends_reading() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk failure"))
        }
    }
    for format in [FileFormat::Csv, FileFormat::Json, FileFormat::Ndjson] {
        let (start, line) = match format {
            FileFormat::Csv | FileFormat::Xlsx => ("name,type,year\n", 2),
            FileFormat::Json => ("[\n\n\n", 4),
            FileFormat::Ndjson => ("\n\n\n\n", 5),
        };
        assert_eq!(
            read(start.as_bytes().chain(Failing), format),
            [format!("{line}!! The input cannot be read: disk failure")]
        );
    }
}
