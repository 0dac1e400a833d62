//! Readers of files: records with line numbers, messages about invalid records, and read errors.

use std::io::{self, Cursor, Read};

use robot_core::{
    Draft,
    transfer::{Format, ImportError, Position, RECORD_LIMIT, Records},
};

/// Each record as a text: its line number, and the draft or the messages. The last one is the error
/// that ended reading, if there was one.
fn read(input: impl Read, format: Format) -> Vec<String> {
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
fn place(position: Position) -> String {
    match position {
        Position::Line(line) => line.to_string(),
        Position::Record(_) | Position::All => position.to_string(),
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
fn reads(format: Format, text: impl AsRef<[u8]>, expected: &[&str]) {
    let bytes = text.as_ref();
    assert_eq!(read(bytes, format), expected, "as a whole");
    assert_eq!(
        read(ByteByByte(Cursor::new(bytes)), format),
        expected,
        "byte by byte"
    );
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
fn csv_line_numbers_count_blank_and_quoted_lines() {
    reads(
        Format::Csv,
        "\u{feff}name,type,year\r\n\r\n\"a\r\nb\",droid,1\r\n\n\n c ,droid,-2\n\"d\",droid,3",
        &[
            r#"3: "a\r\nb" "droid" 1"#,
            r#"7: " c " "droid" -2"#,
            r#"8: "d" "droid" 3"#,
        ],
    );
}

#[test]
fn unclosed_quote_reports_the_lines_of_its_field() {
    reads(
        Format::Csv,
        "name,type,year\n\"a,droid,1\nb,droid,2\nc\",droid,3,4\nd,droid,5\n",
        &[
            "2! The record has a different number of fields (4) than the header (3); put a field \
             with commas, quotes or line breaks into quotes; it continues for 2 more lines, \
             perhaps because a closing quote is missing",
            r#"5: "d" "droid" 5"#,
        ],
    );
}

#[test]
fn quote_that_is_never_closed_fails_its_record() {
    let message =
        "The record continues to the end of the input, because a closing quote is missing";
    for rest in ["\"R2-D2\ndroid,1977,C-3PO\n", "\"R2-D2", "\"", "\"\"\""] {
        reads(
            Format::Csv,
            format!("type,year,name\ndroid,1,a\ndroid,1977,{rest}"),
            &[r#"2: "a" "droid" 1"#, &format!("3! {message}")],
        );
    }
    reads(Format::Csv, "name,\"type", &[&format!("1!! {message}")]);
    reads(
        Format::Csv,
        "type,year,name\ndroid,1977,\"R2-D2\"",
        &[r#"2: "R2-D2" "droid" 1977"#],
    );
}

#[test]
fn empty_csv_field_counts_as_missing() {
    reads(
        Format::Csv,
        "name,type,year\n,droid,\n",
        &[r#"2: - "droid" -"#],
    );
    // A record without any value is none.
    reads(
        Format::Csv,
        ",,\n\nname,type,year\n, ,\n,droid,\n",
        &[r#"5: - "droid" -"#],
    );
}

#[test]
fn csv_reading_continues_after_an_invalid_record() {
    let text = b"name,type,year\na,droid\nb,droid,1,2\n\xff,droid,1\nc,\xc3,1977.0\nd,droid,1\n";
    reads(
        Format::Csv,
        text,
        &[
            r#"2: "a" "droid" -"#,
            "3! The record has a different number of fields (4) than the header (3); put a field \
             with commas, quotes or line breaks into quotes",
            "4! name is not UTF-8; if the file is from a spreadsheet, add --encoding windows-1252, or in a \
             request encoding=windows-1252",
            "5! type is not UTF-8; if the file is from a spreadsheet, add --encoding windows-1252, or in a \
             request encoding=windows-1252",
            r#"6: "d" "droid" 1"#,
        ],
    );
}

#[test]
fn invalid_csv_header_ends_reading() {
    reads(
        Format::Csv,
        "name;year\na;1\n",
        &[
            "1!! Missing in the header: type; the first line must name the columns, separated by \
             commas: name,type,year",
        ],
    );
    reads(
        Format::Csv,
        "Titel;Hersteller\na;b\n",
        &[
            "1!! The first line names no field, but Titel, Hersteller; the fields are name,type,year. If it is \
             a record, add --no-header",
        ],
    );
    reads(
        Format::Csv,
        "\nname,type,name,year\na,droid,b,1\n",
        &["2!! Two columns have the heading 'name'; rename one of them in the file"],
    );
    reads(
        Format::Csv,
        "",
        &["1!! The input is empty; the first line of CSV must name the columns: name,type,year"],
    );
    reads(Format::Csv, "year,name,type\n", &[]);
}

#[test]
fn headings_are_found_in_files_of_spreadsheets() {
    for header in [
        "\u{feff}name,type,year,maker\r\n",
        "NAME; Type ;YEAR;Maker\n",
        "\"name\"\ttype\tyear\t\"made, or sold, by\"\r\n",
    ] {
        let row = "R2-D2,droid,1977,ACME";
        let separator = if header.contains('\t') { "\t" } else { ";" };
        let separator = if header.contains(separator) {
            separator
        } else {
            ","
        };
        let file = format!("{header}{}", row.replace(',', separator));
        reads(Format::Csv, file, &[r#"2: "R2-D2" "droid" 1977"#]);
    }
}

#[test]
fn lone_quotes_and_unnamed_columns_lose_no_records() {
    reads(
        Format::Csv,
        "name,type,year,size 3\"\na,droid,1,5\"\nb,droid,2,x\n",
        &[r#"2: "a" "droid" 1"#, r#"3: "b" "droid" 2"#],
    );
    reads(
        Format::Csv,
        "name;type;year;Size (L, W, H, D);;\na;droid;1;x;;\nb;droid;2;x;;y\n",
        &[r#"2: "a" "droid" 1"#, r#"3: "b" "droid" 2"#],
    );
    reads(
        Format::Csv,
        "name,type,year,\"a\nb\"\na,droid,1,x\n",
        &[r#"3: "a" "droid" 1"#],
    );
}

#[test]
fn json_array_is_read_element_by_element() {
    reads(
        Format::Json,
        "\u{feff}\n[\n{\"name\":\"R2, ]}\\\"\",\"type\":\"droid\",\n\"year\":1},{}\n,{\"x\":[{}],\"year\":2}]\n \n",
        &[r#"3: "R2, ]}\"" "droid" 1"#, "4: - - -", "5: - - 2"],
    );
    reads(Format::Json, " [ ] ", &[]);
}

#[test]
fn json_reading_continues_after_an_invalid_element() {
    reads(
        Format::Json,
        b"[1,\n\"a,]\",\n[{}],{\"year\":\"1\",\"name\":5},{\"a\":1,\"a\":2},{\"name\":\"\xff\"},null,{\"year\":3},{\"year\":1e400},1e400,{}]",
        &[
            "record 1! The record must be a JSON object with name, type and year",
            "2! The record must be a JSON object with name, type and year",
            "3! The record must be a JSON object with name, type and year",
            "record 4! name must be a string; year must be an integer from 0 to 9223372036854775807",
            "record 5! The record has the member 'a' twice; send it once",
            "record 6! The record is not UTF-8 (at byte 9)",
            "record 7! The record must be a JSON object with name, type and year",
            "record 8: - - 3",
            "record 9! year must be an integer from 0 to 9223372036854775807",
            "record 10! The record is not valid JSON (column 5)",
            "record 11: - - -",
        ],
    );
}

#[test]
fn invalid_json_ends_reading_with_its_line() {
    let not_valid = "The JSON is not valid here; nothing after it can be read";
    let truncated = "What begins here does not end: the JSON is truncated or not valid";
    let no_array =
        "The JSON is not an array of objects; for one object per line, use the format ndjson";
    for (text, line, message) in [
        ("[{},\n{\"year\" 1},\n{}]", 2, not_valid),
        ("[{},\n{\"name\":\n'a'},{}]", 3, not_valid),
        ("[{},\n]", 2, not_valid),
        ("[{},\n,{}]", 2, not_valid),
        ("[{}\n}", 2, not_valid),
        ("[{},\n1 2,{}]", 2, not_valid),
        ("[{},\n\"x\"\n\"y\",{}]", 3, not_valid),
        ("[{},\n[1,],{}]", 2, not_valid),
        ("[{},\n{\"year\":\"1\"} 2,{}]", 2, not_valid),
        ("[{},\n{]\n\n", 2, truncated),
        ("[{},\n{\"name\":\n\"", 2, truncated),
        ("[{},\n", 2, truncated),
        (
            "[{}]\n[]",
            2,
            "The JSON array is followed by something else; send one array",
        ),
    ] {
        let end = format!("{line}!! {message}");
        reads(Format::Json, text, &["record 1: - - -", &end]);
    }
    reads(Format::Json, "[\n{}\n", &[&format!("2!! {truncated}")]);
    reads(Format::Json, "{}\n{}\n", &[&format!("1!! {no_array}")]);
    reads(
        Format::Json,
        "",
        &["1!! The input is empty; an empty JSON array is []"],
    );
}

#[test]
fn records_on_one_line_are_numbered() {
    let not_valid = "The JSON is not valid here; nothing after it can be read";
    let truncated = "What begins here does not end: the JSON is truncated or not valid";
    let object = "The record must be a JSON object with name, type and year";
    reads(
        Format::Json,
        "\n [{},2,{}]",
        &[
            "record 1: - - -",
            &format!("record 2! {object}"),
            "record 3: - - -",
        ],
    );
    for (text, message) in [
        ("[{},{}x]", not_valid),
        ("[{},{} {}]", not_valid),
        ("[{},,{}]", not_valid),
        ("[{},{\"year\" 1}]", not_valid),
        ("[{},{", truncated),
    ] {
        let end = format!("record 2!! {message}");
        reads(Format::Json, text, &["record 1: - - -", &end]);
    }
    // Each of these lines has one record that begins on it.
    reads(
        Format::Json,
        "[{\n},\n1]",
        &["record 1: - - -", &format!("3! {object}")],
    );
    // Lines may end with a carriage return alone.
    reads(
        Format::Csv,
        "name,type,year\ra,droid,1\rb,droid,x\r",
        &[
            r#"2: "a" "droid" 1"#,
            "3! year must be an integer from 0 to 9223372036854775807",
        ],
    );
}

#[test]
fn ndjson_skips_blank_lines() {
    reads(
        Format::Ndjson,
        "\u{feff}\r\n{\"name\":\"a\u{2028}\"}\r\n \t\n{\"year\":1}",
        &["2: \"a\\u{2028}\" - -", "4: - - 1"],
    );
}

#[test]
fn ndjson_reading_continues_after_an_invalid_line() {
    reads(
        Format::Ndjson,
        b"{\"name\":\n\"a\"}\n[]\n{\"year\":1} {}\n\xff\n{\"year\":2}\n",
        &[
            "1! The record ends before its JSON does (column 8)",
            "2! The record must be a JSON object with name, type and year",
            "3! The record must be a JSON object with name, type and year",
            "4! The record continues after its JSON object (column 12); send one object alone",
            "5! The record is not UTF-8 (at byte 0)",
            "6: - - 2",
        ],
    );
}

#[test]
fn reading_continues_after_a_record_that_is_too_long() {
    let long = "x".repeat(3 * RECORD_LIMIT);
    let message = format!("The record has more than {RECORD_LIMIT} bytes");
    reads(
        Format::Ndjson,
        format!("{{}}\n{{\"x\":\"{long}\"}}\n{{}}\n"),
        &["1: - - -", &format!("2! {message}"), "3: - - -"],
    );
    reads(
        Format::Json,
        format!("[{{}},\n{{\"x\":\"{long}]\"}},\n{{}}]"),
        &["record 1: - - -", &format!("2! {message}"), "3: - - -"],
    );
    let too_long = format!("{message} or 256 fields, perhaps because a closing quote is missing");
    reads(
        Format::Csv,
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
    reads(Format::Ndjson, &object, &["1: - - -"]);
    reads(Format::Json, format!("[{object}]"), &["record 1: - - -"]);
}

#[test]
fn failing_input_ends_reading() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk failure"))
        }
    }
    for format in [Format::Csv, Format::Json, Format::Ndjson] {
        let (start, line) = match format {
            Format::Csv | Format::Xlsx => ("name,type,year\n", 2),
            Format::Json => ("[\n\n\n", 4),
            Format::Ndjson => ("\n\n\n\n", 5),
        };
        assert_eq!(
            read(start.as_bytes().chain(Failing), format),
            [format!("{line}!! The input cannot be read: disk failure")]
        );
    }
}
