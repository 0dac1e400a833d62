//! Calls each kind of operation of a server, by the client that its OpenAPI document describes.

use std::{env, error::Error, num::NonZeroU64};

use api::{
    Client,
    types::{
        ExportRobotsFormat, ImportReportData, ImportRobotsFormat, ListRobotsSort,
        ListRobotsTypeItem, RobotDraft, RobotPatch, RobotResult, Type,
    },
};

mod api {
    progenitor::generate_api!(
        spec = "openapi.json",
        interface = Builder,
        pre_hook = crate::set_type_of_patch,
    );
}

/// Sets the type of a patch: the generator knows JSON only.
fn set_type_of_patch(request: &mut reqwest::Request) {
    if request.method() == reqwest::Method::PATCH {
        let patch = reqwest::header::HeaderValue::from_static("application/merge-patch+json");
        request
            .headers_mut()
            .insert(reqwest::header::CONTENT_TYPE, patch);
    }
}

fn draft(name: &str) -> Result<RobotDraft, Box<dyn Error>> {
    Ok(RobotDraft::builder()
        .name(name)
        .type_(Type::Droid)
        .year(1977)
        .try_into()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args()
        .nth(1)
        .ok_or("the address of a server is missing")?;
    let client = Client::new(&address);

    let added = client.add_robot().body(draft("R2-D2")?).send().await?;
    assert_eq!(added.status(), 201);
    let id = added.data.id.to_string();
    let refused = client.add_robot().body(draft("R2-D2")?).send().await;
    let messages = match refused {
        Err(progenitor_client::Error::ErrorResponse(failure)) => failure.messages.clone(),
        other => return Err(format!("{other:?}").into()),
    };
    assert_eq!(messages, ["The robot name must be unique"]);

    let found = client
        .get_robot()
        .id(id.as_str())
        .fields("id,name,year")
        .send()
        .await?;
    let etag = found.headers()["etag"].to_str()?.to_owned();
    match found.into_inner() {
        RobotResult::Found(found) => assert_eq!(found.data.year, Some(1977)),
        other => return Err(format!("{other:?}").into()),
    }
    let missing = client.get_robot().id("0").send().await?;
    assert!(matches!(*missing, RobotResult::NotFound(_)));

    let patch: RobotPatch = RobotPatch::builder().year(1980).try_into()?;
    client
        .change_robot()
        .id(id.as_str())
        .if_match(etag.as_str())
        .body(patch)
        .send()
        .await?;
    let stale = client
        .replace_robot()
        .id(id.as_str())
        .if_match(etag.as_str())
        .body(draft("R2-D2")?)
        .send()
        .await;
    assert_eq!(
        stale
            .err()
            .and_then(|error| error.status())
            .map(|status| status.as_u16()),
        Some(412)
    );
    client
        .replace_robot()
        .id(id.as_str())
        .body(draft("R2-D2")?)
        .send()
        .await?;

    let import = client.import_robots().format(ImportRobotsFormat::Json);
    let imported = import.body(vec![draft("C-3PO")?]).send().await?;
    match &imported.data {
        ImportReportData::ImportCounts(counts) => assert_eq!(counts.added, 1),
        other => return Err(format!("{other:?}").into()),
    }

    let list = client
        .list_robots()
        .type_(vec![ListRobotsTypeItem::Droid])
        .sort(ListRobotsSort::Year);
    let list = list.limit(NonZeroU64::MIN).count(true).send().await?;
    assert_eq!(
        (list.len(), list.headers()["x-total-count"].to_str()?),
        (1, "2")
    );
    let search = client.search_robots().text("3P").send().await?;
    assert_eq!(search.len(), 1);
    let summary = client.summarize_robots().send().await?;
    assert_eq!(summary.data.count, 2);
    let export = client
        .export_robots()
        .format(ExportRobotsFormat::Json)
        .send()
        .await?;
    assert_eq!(export.len(), 2);

    client.delete_robot().id(id.as_str()).send().await?;
    let head = client.list_robots_head().send().await?;
    assert_eq!(head.status(), 200);
    let description = client.describe_api().send().await?;
    assert_eq!(description.openapi, "3.1.0");
    Ok(())
}
