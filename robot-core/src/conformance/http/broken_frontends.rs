//! Seeded bugs of frontends, and the cases that find them.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use super::{Configuration, Faulty, Session, cases};
use crate::{
    MemoryCatalogue,
    conformance::{Answer, Call, Client, Framing, Pace},
    http::{Api, BODY_LIMIT},
};

/// The bugs, each with the cases that fail because of it.
macro_rules! bugs {
    ($($bug:ident => $cases:literal,)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Bug { None, $($bug),+ }

        const BUGS: &[(Bug, &str)] = &[$((Bug::$bug, $cases)),+];
    };
}

bugs! {
    NoBodyDeadline => "late_bodies_return_408_and_block_no_other_clients",
    DeadlinePerByte => "late_bodies_return_408_and_block_no_other_clients",
    OneRequestAtATime => "late_bodies_return_408_and_block_no_other_clients",
    SlowBodyRejected => "body_that_arrives_byte_by_byte_is_accepted",
    LimitOneTooLow => "body_at_the_limit_is_accepted",
    NoLimitForChunks => "body_over_64_kib_returns_413",
    WaitsForTooLargeBody => "announced_body_over_the_limit_returns_413_at_once",
    CutOffBodyTakenAsComplete => "body_that_is_cut_off_changes_nothing",
    ChunkedBodyIgnored => "body_at_the_limit_is_accepted",
    HeadWithBody => "head_answers_like_get_without_a_body",
    HeadersOfOneName => "content_type_follows_the_accept_header
        preference_chooses_the_response_to_a_change",
    QueryDropped => "limit_returns_the_first_page ids_choose_robots
        changes_of_a_list_apply_to_all_or_none",
    PathDecoded => "search_text_is_decoded_once",
    PathNormalised => "unknown_path_returns_404",
    MethodInUpperCase => "unknown_method_returns_405",
    OriginDropped => "write_from_another_origin_returns_403",
    ConditionsDropped => "conditions_of_reads_are_checked conditions_of_changes_are_checked",
    ConditionsOfPatchDropped => "conditions_of_changes_are_checked",
    PatchSentAsPut => "patch_changes_only_given_members",
    OwnHeadersDropped => "known_method_on_wrong_path_returns_405 options_returns_the_methods
        unavailable_store_returns_503_with_retry_after get_of_a_robot_has_its_etag
        patch_with_another_content_type_returns_415 encoded_body_returns_415
        access_says_what_the_client_may_do",
    ContentTypeReplaced => "post_adds_a_robot v1_returns_data_without_an_envelope",
    BehaviourIgnored => "taken_name_is_rejected",
    BodyOfFailureReplaced => "unknown_path_returns_404 v1_failures_are_problem_details",
}

/// A frontend with a bug.
struct Broken {
    api: Api,
    bug: Bug,
    configuration: Configuration,
}

impl Client for Broken {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let (mut call, mut pace) = (call.clone(), pace);
        self.receive(&mut call, framing, &mut pace)?;
        let mut answer = self.api.deliver(&call, framing, pace)?;
        self.send(&call, &mut answer);
        Ok(answer)
    }
}

impl Broken {
    /// Changes what the core receives.
    fn receive(&self, call: &mut Call, framing: Framing, pace: &mut Pace) -> io::Result<()> {
        let stops = matches!(pace, Pace::StopAfter(_));
        let is_slow = matches!(pace, Pace::ByteByByte(_));
        let is_chunked = framing == Framing::Chunked;
        let length = call.body.len();
        match self.bug {
            Bug::NoBodyDeadline if stops => return Err(io::ErrorKind::TimedOut.into()),
            Bug::WaitsForTooLargeBody if stops => call.body.truncate(BODY_LIMIT),
            Bug::DeadlinePerByte if is_slow => *pace = Pace::AtOnce,
            Bug::SlowBodyRejected if is_slow => *pace = Pace::StopAfter(0),
            Bug::CutOffBodyTakenAsComplete => {
                if let Pace::CutOffAfter(sent) = *pace {
                    call.body.truncate(sent);
                    *pace = Pace::AtOnce;
                }
            }
            // As if its only thread waited for a late body.
            Bug::OneRequestAtATime if call.target.contains("search") => {
                thread::sleep(self.configuration.body_deadline);
            }
            Bug::LimitOneTooLow if length == BODY_LIMIT => call.body.push(b' '),
            Bug::NoLimitForChunks if is_chunked => call.body = call.body.trim_ascii().to_vec(),
            Bug::ChunkedBodyIgnored if is_chunked => call.body.clear(),
            Bug::HeadersOfOneName => call.headers.truncate(1),
            Bug::QueryDropped => {
                let path = call.target.split('?').next();
                call.target = path.unwrap_or_default().to_owned();
            }
            Bug::PathDecoded => call.target = call.target.replace("%25", "%").replace("%2F", "/"),
            Bug::PathNormalised => call.target = call.target.replace("//", "/"),
            Bug::MethodInUpperCase => call.method.make_ascii_uppercase(),
            Bug::OriginDropped => call.headers.retain(|(name, _)| name != "Origin"),
            Bug::ConditionsDropped => call.headers.retain(|(name, _)| !name.starts_with("If-")),
            Bug::ConditionsOfPatchDropped if call.method == "PATCH" => {
                call.headers.retain(|(name, _)| !name.starts_with("If-"));
            }
            Bug::PatchSentAsPut if call.method == "PATCH" => "PUT".clone_into(&mut call.method),
            _ => {}
        }
        Ok(())
    }

    /// Changes what the client receives.
    fn send(&self, call: &Call, answer: &mut Answer) {
        match self.bug {
            Bug::HeadWithBody if call.method == "HEAD" => answer.body = b"[]".to_vec(),
            Bug::OwnHeadersDropped => {
                let own = [
                    "allow",
                    "retry-after",
                    "etag",
                    "accept-patch",
                    "accept-encoding",
                    "cache-control",
                ];
                answer.headers.retain(|(name, _)| !own.contains(&&**name));
            }
            Bug::ContentTypeReplaced => {
                let mut headers = answer.headers.iter_mut();
                if let Some((_, value)) = headers.find(|(name, _)| name == "content-type") {
                    "text/html".clone_into(value);
                }
            }
            Bug::BehaviourIgnored if answer.status == 500 => answer.status = 409,
            Bug::BodyOfFailureReplaced if answer.status >= 400 => answer.body = b"No".to_vec(),
            _ => {}
        }
    }
}

/// Whether a case fails for a frontend with this bug, with any configuration.
fn fails(bug: Bug, case: &str) -> bool {
    let cases = cases();
    let mut cases = cases.iter().filter(|(_, name, _)| *name == case).peekable();
    assert!(cases.peek().is_some(), "{case}");
    cases.any(|(configuration, _, run)| {
        let store = Faulty::new(MemoryCatalogue::new());
        let client = Broken {
            api: configuration.api(store.clone()),
            bug,
            configuration: *configuration,
        };
        let session = Session::new(&client, *configuration, &store);
        catch_unwind(AssertUnwindSafe(|| run(&session))).is_err()
    })
}

#[test]
fn every_seeded_bug_is_found() {
    for (bug, cases) in BUGS {
        for case in cases.split_whitespace() {
            assert!(fails(*bug, case), "{bug:?} passes {case}");
            assert!(!fails(Bug::None, case), "{case}");
        }
    }
}

#[test]
fn every_case_of_sizes_and_deadlines_finds_a_bug() {
    for (case, _) in super::sizes::CASES.iter().chain(super::deadlines::CASES) {
        assert!(BUGS.iter().any(|(_, found)| found == case), "{case}");
    }
}
