//! `GET /api/robots/export`: all robots as a file, read page by page.
//!
//! Names are not escaped as in other responses, so that the file is the same as that of
//! [`RobotWriter`]: its type is not HTML, and browsers save it.

use std::{io, slice, sync::Arc};

use ::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::{
    changes,
    failure::Failure,
    list::{self, ListWriter},
    query::{check_choices, fields, filter},
    render::envelope,
    response::{self, Started},
    route::Call,
};
use crate::{
    catalogue::{CatalogueExt, Pages, Pending, Sort},
    model::Robot,
    transfer::{FileFormat, RobotWriter},
};

pub(super) fn start(call: &Call<'_>) -> Started {
    let (arguments, definition) = (&call.arguments, &call.definition);
    let format = arguments.format()?.unwrap_or(FileFormat::Ndjson);
    let is_for_spreadsheets = arguments.flag("spreadsheet")?;
    if is_for_spreadsheets && format != FileFormat::Csv {
        return Err(Failure::malformed("spreadsheet=true needs format=csv"));
    }
    let fields = fields(arguments, definition)?.unwrap_or_else(|| {
        let is_contract = call.context.behaviour.is_contract();
        let fields = if is_contract {
            definition.default_fields()
        } else {
            definition.all()
        };
        fields.to_vec()
    });
    let mut writer = RobotWriter::new(format, fields.clone());
    writer.is_for_spreadsheets = is_for_spreadsheets;
    let headings = arguments.parse("headings", |text| match text {
        "names" | "titles" => Ok(text == "titles"),
        _ => Err("headings must be names or titles"),
    })?;
    if headings == Some(true) {
        writer = writer.with_titles(definition);
    }
    let filter = filter(arguments, definition)?;
    // A robot may move in any other order while the file is written.
    let sort = arguments.parse("sort", |text| Sort::parse(text, definition))?;
    let sort = sort.unwrap_or(Sort::BY_ID);
    let pages = Pages::new(Arc::clone(&call.service.catalogue), filter.clone()).sorted(sort);
    let pages = pages.with_fields(fields.into());
    let catalogue = Arc::clone(&call.service.catalogue);
    let request_id = call.context.request_id.clone();
    let position = changes::position(call);
    Ok(Pending::blocking(move || {
        check_choices(&*catalogue, &filter)?;
        let position = position()?;
        if let Some(maximum) = format.max_robots()
            && catalogue.count(&filter)? > maximum.into()
        {
            let message = format!("A workbook has at most {maximum} robots; send format=csv");
            return Err(Failure::malformed(message));
        }
        let mut response = list::stream(pages, writer, request_id)?;
        let name = format!("attachment; filename=\"robots.{format}\"");
        let headers = response.headers_mut();
        response::set(headers, CONTENT_TYPE, format.media_type().to_owned());
        response::set(headers, CONTENT_DISPOSITION, name);
        Ok(changes::with_position(response, position.as_ref()))
    }))
}

impl ListWriter for RobotWriter {
    const NAME: &str = "an export";

    /// A workbook has a temporary file.
    fn write(&mut self, robot: &Robot, bytes: &mut Vec<u8>) -> io::Result<()> {
        Self::write(self, slice::from_ref(robot), bytes)
    }

    fn finish(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        Self::finish(self, bytes)
    }

    /// Text that no reader accepts as a robot or as the end of the file. Nothing else in a file shows that
    /// it is incomplete, and some frontends cannot abort a connection.
    fn error_mark(&self) -> Option<Vec<u8>> {
        const MESSAGE: &str =
            "The export was interrupted, because the service failed; request it again";
        Some(match self.format {
            // One field too many, since missing ones would be no values.
            FileFormat::Csv => {
                format!("{}\"{MESSAGE}\"\n", ",".repeat(self.fields.len())).into_bytes()
            }
            FileFormat::Json | FileFormat::Ndjson | FileFormat::Xlsx => {
                let mut line = envelope("ERROR", None::<()>, vec![MESSAGE.to_owned()]);
                line.push(b'\n');
                line
            }
        })
    }
}
