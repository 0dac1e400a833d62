//! NDJSON: a record is a line.

use std::io::{self, Read};

use super::source::{Cut, Source};

/// Cuts the next line out that is not blank. The number of the line; `None` at the end.
pub(super) fn next<R: Read>(source: &mut Source<R>, cut: &mut Cut) -> io::Result<Option<u64>> {
    loop {
        let line = source.line();
        if source.ahead()?.is_empty() {
            return Ok(None);
        }
        cut_line(source, cut)?;
        if cut
            .bytes()
            .is_none_or(|bytes| !bytes.trim_ascii().is_empty())
        {
            return Ok(Some(line));
        }
    }
}

/// Cuts a line out, without its end.
fn cut_line<R: Read>(source: &mut Source<R>, cut: &mut Cut) -> io::Result<()> {
    cut.clear();
    loop {
        let ahead = source.ahead()?;
        let end = memchr::memchr(b'\n', ahead);
        cut.extend(&ahead[..end.unwrap_or(ahead.len())]);
        let count = end.map_or(ahead.len(), |end| end + 1);
        source.take(count);
        if end.is_some() || count == 0 {
            return Ok(());
        }
    }
}
