//! Files of the previous version.

use std::{fs, ops::ControlFlow};

use robot_core::{
    Catalogue, CatalogueExt, Cursor, Existing, Field, Filter, OpenOptions, PageRequest, Preparation,
};

use crate::{
    backend::{Backend, Sqlite, previous},
    names,
};

#[test]
fn backup_of_the_previous_version_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let restored =
        OpenOptions::default().restore_backup(previous("robots.db"), &url, Existing::Keep, |_| {
            ControlFlow::Continue(())
        });
    let robots = robot_core::open(&url).unwrap().list().unwrap();
    assert_eq!(restored.unwrap().robots, robots.len() as u64);
    let expected = fs::read_to_string(previous("robots.ndjson")).unwrap();
    assert_eq!(robots.len(), expected.lines().count());
}

#[test]
fn file_of_the_previous_version_is_readable_unchanged() {
    let database = Sqlite::of_previous_version();
    let before = fs::read(database.file()).unwrap();
    let options = OpenOptions {
        preparation: Preparation::Keep,
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let robots = catalogue.list().unwrap();
    let expected = fs::read_to_string(previous("robots.ndjson")).unwrap();
    assert_eq!(robots.len(), expected.lines().count());
    for robot in &robots {
        assert_eq!(catalogue.get(robot.id()).unwrap().as_ref(), Some(robot));
        assert_eq!(catalogue.find(robot.name()).unwrap().as_ref(), Some(robot));
    }
    assert_eq!(names(&catalogue, "renamed"), ["renamed 20"]);
    assert_eq!(names(&catalogue, "nit 2").len(), 9);
    let droids = Filter::all().with(Field::TYPE, "droid");
    let count = robots.iter().filter(|robot| droids.matches(robot)).count();
    assert_eq!(catalogue.count(&droids).unwrap(), count as u64);
    let by_year = Cursor::start("year".parse().unwrap());
    let page = catalogue.page(PageRequest::new(&droids, &by_year));
    assert_eq!(page.unwrap().items.len(), count);
    drop(catalogue);
    assert!(fs::read(database.file()).unwrap() == before);
}
