//! Import of a file by a plan, with the fields that it needs, or the plan itself.

use std::{
    io::{self, Seek},
    sync::Arc,
};

use serde::{Serialize, Serializer};

use super::{MESSAGES_LIMIT, Report, body::BodyReader, failed, line_of};
use crate::{
    catalogue::{Catalogue, Error},
    http::{
        behaviour::Behaviour,
        failure::Failure,
        render,
        response::{self, HandlerResult},
    },
    model::{Definition, Message},
    transfer::{
        ChangedValue, Columns, FileFormat, ImportCounts, ImportError, Outcome, Plan, PlanError,
        PlannedColumn, ProposedChange, ReadError, RecordPosition, Records,
    },
};

/// The number of failures in a plan.
const FAILURES: usize = 5;

/// A plan, for the client.
#[derive(Default, Serialize)]
struct Planned<'a> {
    /// `None` if no definition fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a Definition>,
    columns: Fields<'a>,
    plan: &'a [PlannedColumn],
    changes: &'a [ProposedChange],
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<ImportCounts>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'a [ChangedValue],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<String>,
}

/// The fields that the columns of a file stand for, in the order of the file.
#[derive(Default)]
struct Fields<'a>(&'a [PlannedColumn]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.0.iter();
        serializer.collect_map(columns.map(|column| (&column.heading, &column.field)))
    }
}

impl<'a> Planned<'a> {
    fn new(plan: &'a Plan) -> Self {
        let failures = plan.failures.iter().filter_map(Outcome::message);
        let failures = failures.map(|message| plan.definition.worded(&message));
        Self {
            definition: Some(&plan.definition),
            changes: &plan.changes,
            records: Some(plan.counts),
            values: &plan.changed,
            failures: failures.take(FAILURES).collect(),
            advice: plan.advice("match=", "on_conflict=skip", "add_equal=true"),
            ..Self::unfit(&plan.listed)
        }
    }

    /// The columns of a file that no definition fits.
    fn unfit(columns: &'a [PlannedColumn]) -> Self {
        Self {
            columns: Fields(columns),
            plan: columns,
            ..Self::default()
        }
    }
}

impl Report {
    /// Plans an import of a file, which is spooled, and does it unless the client wants only the plan.
    pub(super) fn run_planned(
        mut self,
        catalogue: &Arc<dyn Catalogue>,
        mut body: BodyReader,
        format: FileFormat,
        columns: Columns,
        behaviour: Behaviour,
    ) -> HandlerResult {
        let spooled = tempfile::tempfile().and_then(|mut file| {
            io::copy(&mut body, &mut file)?;
            Ok(file)
        });
        let unreadable = |cause| {
            let position = RecordPosition::Line(0);
            self.failure(ReadError::Input { position, cause }.into())
        };
        let file = spooled.map_err(unreadable)?;
        let open = || {
            let mut file = file.try_clone()?;
            file.rewind()?;
            Ok(Records::new(file, format).with_options(&self.query.reading))
        };
        let options = self.query.options.clone();
        let plan = Plan::new(catalogue, open, columns, options, MESSAGES_LIMIT);
        let plan = plan.map_err(|error| self.unplanned(error))?;
        if self.query.is_proposal || self.query.options.import.is_dry_run {
            let planned = Planned::new(&plan);
            return Ok(response::ok(render::data(behaviour, "OK", &planned)));
        }
        if plan.counts.failed > 0 && !self.query.keeps_going {
            let planned = Planned::new(&plan);
            let failures = plan.failures.iter().flat_map(messages);
            let mut failures: Vec<_> = failures.take(MESSAGES_LIMIT).collect();
            failures.extend(planned.advice.iter().cloned().map(Message::from));
            let kept = "Nothing was stored; to import the other records, add keep_going=true";
            failures.push(kept.into());
            let cause = Failure::Malformed(Vec::new());
            return Err(failed(cause, failures, render::raw(&planned)));
        }
        if let Some(redefinition) = plan.redefinition() {
            self.may_define.map_err(Failure::NotPermitted)?;
            catalogue.define(redefinition)?;
        }
        let records = open().map_err(unreadable)?;
        self.run(
            Arc::clone(catalogue),
            records.with_columns(plan.columns.clone()),
            plan.options.clone(),
        );
        let tried = self.counts.tried;
        let is_unknown = matches!(self.stop, Some((Failure::Store(Error::Unknown(_)), _)));
        if tried.added + tried.replaced == 0 && tried.failed > 0 && !is_unknown {
            plan.take_back(&**catalogue);
        }
        self.into_response(behaviour)
    }

    /// The failure of a plan, with the columns, so that the client can choose what they stand for.
    fn unplanned(&self, error: PlanError) -> Failure {
        match error {
            PlanError::Unreadable(ReadError::Malformed { position, message }) => {
                Failure::malformed(format!("{position}: {message}"))
            }
            PlanError::Unreadable(error) => self.failure(error.into()),
            PlanError::Store(error) => self.failure(error.into()),
            error @ (PlanError::Options(_) | PlanError::Unknown(_)) => {
                Failure::malformed(error.to_string())
            }
            PlanError::Unfit { error, columns } => {
                let data = render::raw(&Planned::unfit(&columns));
                let cause = Failure::Malformed(Vec::new());
                failed(cause, vec![error.to_string().into()], data)
            }
        }
    }
}

/// The messages about a record that fails.
fn messages(outcome: &Outcome) -> impl Iterator<Item = Message> {
    let position = outcome.position;
    let errors = outcome.result.as_ref().err().into_iter();
    let messages = errors.flat_map(ImportError::messages).map(Message::from);
    messages.map(move |message| message.at(position, line_of(position)))
}
