//! Lists: search, query parameters and `Link`.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    configuration,
    mutation::mutated,
    service::{Service, request},
};

/// Names that contain one another, and with a meaning in a path, a query, a header or HTML.
const NAMES: [&str; 5] = ["a", "a/b", "%2F\"?&=#", "<b>;\r\n", "e\u{301} é Ж🤖"];

const TARGETS: [&str; 5] = [
    "/api/robots?after=%25&limit=2&fields=id,name,type,year",
    "/api/robots?sort=-year&cursor=-year:1977:1&type=droid&year_from=0",
    "/api/robots?q=a+b&count=true&limit=1",
    "/api/robots/search/%2F?limit=1&fields=name",
    "/api/robots/search/E?fold=true&limit=1",
];

proptest! {
    #![proptest_config(configuration(1500))]

    #[test]
    fn links_of_random_queries_are_answered(query in prop_oneof![
        4 => mutated(select(&TARGETS[..]).prop_map(|target| target.as_bytes().to_vec())),
        1 => vec(any::<u8>(), 0..40).prop_map(|bytes| [b"/api/robots?", &bytes[..]].concat()),
    ]) {
        let service = Service::of(NAMES);
        let mut target = Some(String::from_utf8_lossy(&query).into_owned());
        let mut pages = 0;
        // The service checks the form of each answer.
        while let Some(path) = target {
            let Some(request) = request("GET", &path) else {
                break;
            };
            let answer = service.send(request);
            pages += 1;
            prop_assert!(pages <= NAMES.len());
            target = answer.header("link").map(|link| {
                let end = link.strip_prefix('<').unwrap();
                let mut next = end.strip_suffix(">; rel=\"next\"").unwrap();
                let mut folder = path.split('?').next().unwrap().rsplit_once('/').unwrap().0;
                while let Some(above) = next.strip_prefix("../") {
                    (next, folder) = (above, folder.rsplit_once('/').unwrap().0);
                }
                format!("{folder}/{next}")
            });
            prop_assert!(target.is_none() || answer.status == 200);
        }
    }
}
