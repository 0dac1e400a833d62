//! File formats for robots.

use std::{fmt, path::Path};

use super::workbook::ROWS;

/// A file format for robots.
///
/// ```
/// use std::path::Path;
/// use robot_core::transfer::FileFormat;
///
/// assert_eq!(FileFormat::of_path(Path::new("robots.CSV")), Some(FileFormat::Csv));
/// assert_eq!(FileFormat::of_path(Path::new("robots")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// A header row, then one row per robot (RFC 4180).
    Csv,
    /// An array of objects.
    Json,
    /// One object per line.
    Ndjson,
    /// A workbook, whose sheet has a header row, then one row per robot, up to 100,000.
    Xlsx,
}

impl FileFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Csv, Self::Json, Self::Ndjson, Self::Xlsx];

    /// The name, which is also the file extension.
    ///
    /// ```
    /// # use robot_core::transfer::FileFormat;
    /// assert_eq!(FileFormat::ALL.map(FileFormat::as_str), ["csv", "json", "ndjson", "xlsx"]);
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Xlsx => "xlsx",
        }
    }

    /// The format with this name.
    ///
    /// ```
    /// use robot_core::transfer::FileFormat;
    ///
    /// assert_eq!(FileFormat::of_name("csv"), Some(FileFormat::Csv));
    /// assert_eq!(FileFormat::of_name("xml"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The format of a file, by its extension: `csv`, `json`, `ndjson`, `jsonl` or `xlsx`.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "jsonl" => Some(Self::Ndjson),
            extension => Self::of_name(extension),
        }
    }

    /// The maximum number of robots in a file that an export writes; `None` if there is none.
    #[must_use]
    pub const fn max_robots(self) -> Option<u32> {
        match self {
            Self::Xlsx => Some(ROWS),
            Self::Csv | Self::Json | Self::Ndjson => None,
        }
    }

    /// The media type, as in the HTTP header `Content-Type`.
    ///
    /// ```
    /// # use robot_core::transfer::FileFormat;
    /// assert_eq!(FileFormat::Ndjson.media_type(), "application/x-ndjson");
    /// ```
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }

    /// The format of a `Content-Type`. Parameters are ignored.
    ///
    /// ```
    /// use robot_core::transfer::FileFormat;
    ///
    /// assert_eq!(FileFormat::of_media_type("Text/CSV; charset=utf-8"), Some(FileFormat::Csv));
    /// assert_eq!(FileFormat::of_media_type("text/plain"), None);
    /// ```
    #[must_use]
    pub fn of_media_type(content_type: &str) -> Option<Self> {
        let (kind, _) = content_type.split_once(';').unwrap_or((content_type, ""));
        match kind.trim().to_ascii_lowercase().as_str() {
            "application/ndjson" | "application/jsonl" => Some(Self::Ndjson),
            kind => Self::ALL
                .into_iter()
                .find(|format| format.media_type().split(';').next() == Some(kind)),
        }
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
