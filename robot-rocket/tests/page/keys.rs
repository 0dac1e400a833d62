//! Special keys, as `WebDriver` encodes them.

pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const CONTROL: char = '\u{e009}';
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const END: &str = "\u{e010}";
pub(crate) const HOME: &str = "\u{e011}";
pub(crate) const DOWN: &str = "\u{e015}";
pub(crate) const SPACE: &str = " ";
