//! Special keys, as `WebDriver` encodes them.

pub(crate) const TAB: char = '\u{e004}';
pub(crate) const ENTER: char = '\u{e007}';
pub(crate) const CONTROL: char = '\u{e009}';
pub(crate) const ESCAPE: char = '\u{e00c}';
pub(crate) const END: char = '\u{e010}';
pub(crate) const HOME: char = '\u{e011}';
pub(crate) const DOWN: char = '\u{e015}';
pub(crate) const SPACE: char = ' ';
