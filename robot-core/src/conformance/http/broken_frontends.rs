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

/// The bugs, each with a case that fails because of it.
macro_rules! bugs {
    ($($bug:ident => $case:literal,)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Bug { None, $($bug),+ }

        const BUGS: &[(Bug, &str)] = &[$((Bug::$bug, $case)),+];
    };
}

bugs! {
    NoBodyDeadline => "late_bodies_return_408_and_block_no_other_clients",
    DeadlinePerByte => "late_bodies_return_408_and_block_no_other_clients",
    LateBodyTakenAsComplete => "late_bodies_return_408_and_block_no_other_clients",
    OneRequestAtATime => "late_bodies_return_408_and_block_no_other_clients",
    SlowBodyRejected => "body_that_arrives_byte_by_byte_is_accepted",
    LimitOneTooLow => "body_at_the_limit_is_accepted",
    NoLimitForChunks => "body_over_64_kib_returns_413",
    LargeBodyTruncated => "body_over_64_kib_returns_413",
    WaitsForTooLargeBody => "announced_body_over_the_limit_returns_413_at_once",
    CutOffBodyTakenAsComplete => "body_that_is_cut_off_changes_nothing",
    ChunkedBodyIgnored => "body_at_the_limit_is_accepted",
    WrongAllow => "known_method_on_wrong_path_returns_405",
    NoAllow => "options_returns_the_methods",
    HeadWithBody => "head_answers_like_get_without_a_body",
    HeadWithoutLength => "head_answers_like_get_without_a_body",
    HeadersOfOneName => "content_type_follows_the_accept_header",
    QueryDropped => "limit_returns_the_first_page",
    PathDecoded => "search_text_is_decoded_once",
    PathNormalised => "unknown_path_returns_404",
    MethodInUpperCase => "unknown_method_returns_405",
    OriginDropped => "write_from_another_origin_returns_403",
    ContentTypeReplaced => "post_adds_a_robot",
    RetryAfterDropped => "unavailable_store_returns_503_with_retry_after",
    BehaviourIgnored => "taken_name_is_rejected",
    BodyOfFailureReplaced => "unknown_path_returns_404",
    EtagDropped => "get_of_a_robot_has_its_etag",
    EtagOfPutDropped => "put_with_current_etag_succeeds_once",
    NotModifiedWithBody => "get_with_current_etag_returns_304",
    IfNoneMatchDropped => "if_none_match_excludes_changes",
    IfMatchDropped => "put_with_stale_etag_returns_412",
    ConditionsOfDeleteDropped => "delete_with_stale_etag_returns_412",
    ConditionsOfPatchDropped => "patch_with_stale_etag_returns_412",
    PatchSentAsPut => "patch_changes_only_given_members",
    AcceptPatchDropped => "patch_with_another_content_type_returns_415",
}

/// A frontend with a bug.
struct Broken {
    api: Api,
    bug: Bug,
    configuration: Configuration,
}

impl Client for Broken {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let (mut call, mut framing, mut pace) = (call.clone(), framing, pace);
        self.receive(&mut call, &mut framing, &mut pace)?;
        let mut answer = self.api.deliver(&call, framing, pace)?;
        self.send(&call, &mut answer);
        Ok(answer)
    }
}

impl Broken {
    /// Changes what the core receives.
    fn receive(&self, call: &mut Call, framing: &mut Framing, pace: &mut Pace) -> io::Result<()> {
        let stops = matches!(pace, Pace::StopAfter(_));
        let length = call.body.len();
        match self.bug {
            Bug::NoBodyDeadline if stops => return Err(io::ErrorKind::TimedOut.into()),
            Bug::WaitsForTooLargeBody if stops && length > BODY_LIMIT => {
                call.body.truncate(BODY_LIMIT);
            }
            Bug::DeadlinePerByte if matches!(pace, Pace::ByteByByte(_)) => *pace = Pace::AtOnce,
            Bug::SlowBodyRejected if matches!(pace, Pace::ByteByByte(_)) => {
                *pace = Pace::StopAfter(0);
            }
            Bug::LateBodyTakenAsComplete | Bug::CutOffBodyTakenAsComplete => {
                let ends = matches!(pace, Pace::CutOffAfter(_));
                if let Pace::StopAfter(sent) | Pace::CutOffAfter(sent) = *pace
                    && ends == (self.bug == Bug::CutOffBodyTakenAsComplete)
                {
                    call.body.truncate(sent);
                    *pace = Pace::AtOnce;
                }
            }
            // As if its only thread waited for a late body.
            Bug::OneRequestAtATime if call.target.contains("search") => {
                thread::sleep(self.configuration.body_deadline);
            }
            Bug::LimitOneTooLow if length == BODY_LIMIT => call.body.push(b' '),
            Bug::NoLimitForChunks if *framing == Framing::Chunked => {
                call.body = trimmed(&call.body);
            }
            Bug::LargeBodyTruncated => call.body.truncate(BODY_LIMIT),
            Bug::ChunkedBodyIgnored if *framing == Framing::Chunked => call.body.clear(),
            Bug::HeadersOfOneName => call.headers.truncate(1),
            Bug::QueryDropped => call.target.truncate(path_of(&call.target).len()),
            Bug::PathDecoded => call.target = call.target.replace("%25", "%").replace("%2F", "/"),
            Bug::PathNormalised => call.target = call.target.replace("//", "/"),
            Bug::MethodInUpperCase => call.method.make_ascii_uppercase(),
            Bug::OriginDropped => call.headers.retain(|(name, _)| name != "Origin"),
            Bug::IfNoneMatchDropped => call.headers.retain(|(name, _)| name != "If-None-Match"),
            Bug::IfMatchDropped => call.headers.retain(|(name, _)| name != "If-Match"),
            Bug::ConditionsOfDeleteDropped if call.method == "DELETE" => call.headers.clear(),
            Bug::ConditionsOfPatchDropped if call.method == "PATCH" => {
                call.headers.retain(|(name, _)| name == "Content-Type");
            }
            Bug::PatchSentAsPut if call.method == "PATCH" => "PUT".clone_into(&mut call.method),
            _ => {}
        }
        Ok(())
    }

    /// Changes what the client receives.
    fn send(&self, call: &Call, answer: &mut Answer) {
        let remove = |answer: &mut Answer, name: &str| {
            answer.headers.retain(|(known, _)| known != name);
        };
        match self.bug {
            Bug::WrongAllow => set(answer, "allow", "GET, HEAD, POST, OPTIONS"),
            Bug::NoAllow => remove(answer, "allow"),
            Bug::HeadWithBody if call.method == "HEAD" => answer.body = b"[]".to_vec(),
            Bug::HeadWithoutLength if call.method != "HEAD" => {
                let length = answer.body.len().to_string();
                answer.headers.push(("content-length".to_owned(), length));
            }
            Bug::ContentTypeReplaced => set(answer, "content-type", "text/html"),
            Bug::RetryAfterDropped => remove(answer, "retry-after"),
            Bug::EtagDropped => remove(answer, "etag"),
            Bug::EtagOfPutDropped if call.method == "PUT" => remove(answer, "etag"),
            Bug::NotModifiedWithBody if answer.status == 304 => answer.body = b"{}".to_vec(),
            Bug::AcceptPatchDropped => remove(answer, "accept-patch"),
            Bug::BehaviourIgnored if answer.status == 500 => answer.status = 409,
            Bug::BodyOfFailureReplaced if answer.status >= 400 => {
                answer.body = b"Not found".to_vec();
            }
            _ => {}
        }
    }
}

fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

fn trimmed(body: &[u8]) -> Vec<u8> {
    body.trim_ascii().to_vec()
}

fn set(answer: &mut Answer, name: &str, value: &str) {
    for (known, old) in &mut answer.headers {
        if known == name {
            value.clone_into(old);
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
        let api = configuration.api(store.clone());
        let client = Broken {
            api,
            bug,
            configuration: *configuration,
        };
        let session = Session::new(&client, *configuration, &store);
        catch_unwind(AssertUnwindSafe(|| run(&session))).is_err()
    })
}

#[test]
fn every_seeded_bug_is_found() {
    let missed = BUGS.iter().filter(|(bug, case)| !fails(*bug, case));
    let missed: Vec<_> = missed.collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn correct_frontend_passes() {
    for (_, case) in BUGS {
        assert!(!fails(Bug::None, case), "{case}");
    }
}

#[test]
fn every_case_of_sizes_and_deadlines_finds_a_bug() {
    for (case, _) in super::sizes::CASES.iter().chain(super::deadlines::CASES) {
        assert!(BUGS.iter().any(|(_, found)| found == case), "{case}");
    }
}
