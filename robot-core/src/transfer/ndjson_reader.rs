//! NDJSON reader: a record is a line.

use std::io::Read;

use super::{
    input::{Input, RecordBuffer},
    record::ReadError,
};

/// Reads the next line that is not blank. Returns its number; `None` at the end.
pub(super) fn next<R: Read>(
    input: &mut Input<R>,
    record: &mut RecordBuffer,
) -> Result<Option<u64>, ReadError> {
    loop {
        let line = input.line();
        if input.fill()?.is_empty() {
            return Ok(None);
        }
        read_line(input, record)?;
        if record
            .bytes()
            .is_none_or(|bytes| !bytes.trim_ascii().is_empty())
        {
            return Ok(Some(line));
        }
    }
}

/// Reads a line, without its line break.
fn read_line<R: Read>(input: &mut Input<R>, record: &mut RecordBuffer) -> Result<(), ReadError> {
    record.clear();
    loop {
        let buffer = input.fill()?;
        let end = memchr::memchr(b'\n', buffer);
        record.extend(&buffer[..end.unwrap_or(buffer.len())]);
        let count = end.map_or(buffer.len(), |end| end + 1);
        input.consume(count);
        if end.is_some() || count == 0 {
            return Ok(());
        }
    }
}
