//! Changes as server-sent events: a response that goes on while there are changes.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{settings::Service, token::Permission};
use crate::{
    catalogue::{Action, Changes, Event, Extent, Filter, Position, Redefinition},
    model::{Definition, Revision, Robot, RobotId, Timestamp, View},
};

/// A change as the API shows it, as JSON.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, Extent, MemoryCatalogue, http::EventView};
///
/// let catalogue = MemoryCatalogue::new();
/// let start = catalogue.position()?;
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let changes = catalogue.changes(&start, Extent::Latest, 1)?;
/// let definition = catalogue.definition();
/// assert_eq!(EventView::new(&changes.events[0], &definition, true).action, "added");
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Serialize)]
pub struct EventView<'a> {
    revision: Revision,
    /// What has happened: `added`, `changed`, `deleted`, or `excluded` by a filter after the change. If every change is
    /// shown, also `restored`.
    pub action: &'a str,
    at: Option<Timestamp>,
    by: Option<&'a str>,
    id: RobotId,
    robot: Option<View<'a>>,
    /// The robot before the change, if there was one and every change is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<View<'a>>,
}

impl<'a> EventView<'a> {
    /// The change of a robot, which has the fields of the definition, and which a filter includes or not.
    #[must_use]
    pub fn new(event: &'a Event, definition: &'a Definition, is_included: bool) -> Self {
        let robot = event.robot.as_ref().filter(|_| is_included);
        Self {
            revision: event.revision,
            action: match event.action {
                Action::Deleted => "deleted",
                _ if !is_included => "excluded",
                Action::Added => "added",
                Action::Changed => "changed",
            },
            at: event.at,
            by: event.by.as_deref(),
            id: event.id,
            robot: robot.map(|robot| view(robot, definition)),
            before: None,
        }
    }

    /// Converts the versions of every change, as [`convert`](Self::convert) does. The latest changes have present values.
    pub fn convert_changes(changes: &mut Arc<Changes>, extent: Extent, definition: &Definition) {
        if extent == Extent::Every {
            Self::convert(&mut Arc::make_mut(changes).events, definition);
        }
    }

    /// Gives past versions the values that a revert would give them: a field may have another kind now.
    pub fn convert(events: &mut [Event], definition: &Definition) {
        let fields: Vec<_> = definition.own().collect();
        let versions = events
            .iter_mut()
            .flat_map(|event| [&mut event.robot, &mut event.before]);
        for robot in versions.flatten() {
            let audit = robot.audit().cloned().unwrap_or_default();
            let converted = Redefinition::conversion(&fields, robot);
            *robot = converted
                .apply_to(robot, robot.revision())
                .with_audit(audit);
        }
    }

    /// The changes for a client whose filter includes some robots.
    pub fn all(
        changes: &'a Changes,
        extent: Extent,
        definition: &'a Definition,
        filter: &'a Filter,
    ) -> impl Iterator<Item = Self> {
        let matcher = filter.matcher();
        changes.events.iter().map(move |event| {
            let robot = event.robot.as_ref();
            let is_included = robot.is_none_or(|robot| matcher.matches(robot));
            let has_before = is_included && extent == Extent::Every;
            let before = event.before.as_ref().filter(|_| has_before);
            let mut shown = Self::new(event, definition, is_included);
            shown.before = before.map(|robot| view(robot, definition));
            if has_before && comes_back(event) {
                shown.action = "restored";
            }
            shown
        })
    }
}

/// Whether a change has brought back a robot that was deleted.
fn comes_back(event: &Event) -> bool {
    let audit = event.robot.as_ref().and_then(Robot::audit);
    event.action == Action::Added && audit.is_some_and(|audit| audit.created_at < event.at)
}

fn view<'a>(robot: &'a Robot, definition: &'a Definition) -> View<'a> {
    let fields = definition.all();
    View { robot, fields }
}

/// The time after which a silent stream sends a comment. Longer, and proxies close the connection.
const SILENCE: Duration = Duration::from_secs(15);

/// How often a stream looks whether its client may still read. Shorter, and idle streams take more time; longer, and
/// one whose token is removed goes on for longer.
const CHECK: Duration = Duration::from_secs(1);

/// The number of changes that are read at once.
const LIMIT: usize = 100;

/// The size from which on a piece is sent, in bytes. Lower, and a client that was away takes more reads; higher, and
/// each client that reads slowly keeps more memory.
const PIECE: usize = 16 * 1024;

/// The pieces of a stream of server-sent events, of which each is a future. Nothing blocks a thread. A frontend asks for the
/// next piece when the client has received the last one.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, http::{Api, Body}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let api = Api::new(catalogue.clone());
/// let request = http::Request::get("/v1/changes").header("accept", "text/event-stream");
/// let Body::Events(mut events) = api.handle(request.body("")?).into_body() else {
///     return Err("no events".into());
/// };
/// assert!(events.next().await.is_some_and(|start| start.starts_with(b"id: ")));
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let added = String::from_utf8(events.next().await.unwrap_or_default())?;
/// assert!(added.contains("\ndata: {\"revision\":1,\"action\":\"added\","));
/// api.stop_waiting();
/// assert_eq!(events.next().await, None);
/// # Ok(())
/// # }
/// ```
pub struct Events {
    pub(super) service: Arc<Service>,
    /// What the client has sent as `Authorization`.
    pub(super) credentials: Option<String>,
    pub(super) filter: Filter,
    pub(super) after: Position,
    pub(super) extent: Extent,
    /// The revision of the definition by which the filter was read.
    pub(super) definition: Revision,
    /// When the stream ends.
    pub(super) until: Option<Instant>,
    /// When the last piece was sent; `None` before the first one.
    pub(super) sent: Option<Instant>,
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    /// The next piece, which is not empty; `None` at the end. After an error of the store the stream ends, too, and the
    /// client continues it by another request.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let now = Instant::now();
            let left = self.until.map(|until| until.saturating_duration_since(now));
            if left == Some(Duration::ZERO) || !self.may_go_on() {
                return None;
            }
            let Some(sent) = self.sent else {
                self.sent = Some(now);
                // From here, the client continues if there is no change until the connection is lost.
                return Some(format!("id: {}\n\n", self.after).into_bytes());
            };
            let wait = left.unwrap_or(CHECK).min(CHECK);
            let after = self.after.clone();
            let changes = self.service.watch.changes(after, self.extent, LIMIT, wait);
            let changes = changes.await.ok()?;
            if !changes.events.is_empty() && self.may_go_on() {
                self.sent = Some(Instant::now());
                return Some(self.piece(changes));
            }
            // Numbers of changes may have gaps.
            if changes.events.is_empty() {
                self.after = changes.next.clone();
            }
            if sent.elapsed() >= SILENCE {
                self.sent = Some(Instant::now());
                return Some(b":\n\n".to_vec());
            }
        }
    }

    /// Whether the service is not stopping, the client may still read, and its filter means the same. Otherwise the client
    /// sends its request again.
    fn may_go_on(&self) -> bool {
        if self.service.catalogue.definition().revision() != self.definition {
            return false;
        }
        let client = self
            .service
            .settings
            .access
            .client(self.credentials.as_deref());
        !self.service.watch.is_stopped() && client.check(Permission::Read).is_ok()
    }

    /// Changes as events, up to the size of a piece.
    fn piece(&mut self, mut changes: Arc<Changes>) -> Vec<u8> {
        let definition = self.service.catalogue.definition();
        EventView::convert_changes(&mut changes, self.extent, &definition);
        let mut bytes = Vec::new();
        self.after = changes.next.clone();
        for view in EventView::all(&changes, self.extent, &definition, &self.filter) {
            let next = Position {
                revision: view.revision.get(),
                ..changes.next.clone()
            };
            bytes.extend_from_slice(format!("id: {next}\ndata: ").as_bytes());
            // Writing to memory does not fail.
            _ = serde_json::to_writer(&mut bytes, &view);
            bytes.extend_from_slice(b"\n\n");
            if bytes.len() >= PIECE {
                self.after = next;
                break;
            }
        }
        bytes
    }
}
