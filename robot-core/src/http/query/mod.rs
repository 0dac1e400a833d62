//! Queries of lists: which robots, which fields, which page. Each is read from parameters, and a link to the next page is
//! written from it, so that both are inverse.

mod filter;
mod link;
mod page;

pub(super) use filter::{check_choices, filter};
pub(super) use page::{ListQuery, fields, view};
