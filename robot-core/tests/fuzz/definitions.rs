//! Definitions: documents with mutations, and documents of random keywords.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    configuration,
    mutation::mutated,
    service::{Service, request},
};

/// Values of keywords, which fit some of them, separated by `|`.
const VALUES: &str = r#""string"|"integer"|"number"|"boolean"|"date"|"uri"|"^a+$"|"("|["a","b"]|["a"]|[]|0|1|-1|1e300|0.5|\
    255|200|99999999999999999999|true|false|null|{}|"A title"|"""#;

const KEYWORDS: &str = "type|type|type|enum|maxLength|pattern|format|minimum|maximum|unique|index|search|title|\
    description|x";

const NAMES: &str = "name|type|year|maker|weight|__proto__|id|q|a_to|é";

fn one_of(texts: &'static str) -> impl Strategy<Value = &'static str> {
    select(texts.split('|').map(str::trim).collect::<Vec<_>>())
}

fn members(
    names: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let member = (one_of(names), value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
    vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")))
}

fn document() -> impl Strategy<Value = String> {
    let field = members(KEYWORDS, one_of(VALUES).prop_map(str::to_owned));
    let required = vec(one_of(NAMES), 0..3);
    (members(NAMES, field), prop::option::of(required)).prop_map(|(properties, required)| {
        let required =
            required.map(|names| format!(r#","required":["name","{}"]"#, names.join("\",\"")));
        format!(
            r#"{{"properties":{properties}{}}}"#,
            required.unwrap_or_default()
        )
    })
}

const MUSEUM: &str = r#"{"title":"T","properties":{"name":{"unique":false},"type":{"enum":["a"]},"year":{"minimum":-5},
    "maker":{"type":"string","pattern":"^a","unique":true},"weight":{"type":"number","maximum":1.5}},"required":["name"]}"#;

proptest! {
    #![proptest_config(configuration(200))]

    #[test]
    fn definitions_are_taken_or_refused(document in prop_oneof![
        document().prop_map(String::into_bytes),
        mutated(Just(MUSEUM.as_bytes().to_vec())),
    ]) {
        let service = Service::of(["a"]);
        let put = |body: Vec<u8>| {
            let request = request("PUT", "/api/definition").unwrap();
            service.send(request.map(|_| body))
        };
        let before = service.get("/api/definition").body;
        let status = put(document).status;
        let after = service.get("/api/definition").body;
        match status {
            200 => {
                // It is equal after it was read and sent again, and the API has its fields.
                prop_assert_eq!(put(after.clone().into_bytes()).status, 200);
                prop_assert_eq!(service.get("/api/definition").body, after);
                prop_assert_eq!(service.get("/openapi.json").status, 200);
                prop_assert_eq!(service.get("/api/robots?fields=*&sort=-id").status, 200);
            }
            status => {
                prop_assert_eq!(status, 400);
                prop_assert_eq!(after, before);
            }
        }
    }
}
