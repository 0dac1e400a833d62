//! Imports that match robots by their ids.

use std::{sync::Arc, thread};

use robot_core::{
    Catalogue, CatalogueExt, Definition, Draft, Field, Redefinition, RobotId,
    transfer::{Columns, FileFormat, ImportOptions, Outcome, Records, import, import_atomically},
};

use crate::importing::{TAKEN, described, on_both_kinds_of_store, owned, stored};

/// Imports CSV in one of these ways. Returns the outcomes as texts.
fn outcomes(catalogue: &Arc<dyn Catalogue>, file: &str, way: Way) -> Vec<String> {
    let columns = Columns::of(catalogue.definition()).matching("id");
    let records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(columns);
    let options = ImportOptions {
        key: Some(Field::ID),
        keeps_going: !matches!(way, Way::Stopping),
        is_dry_run: matches!(way, Way::DryRun),
        ..ImportOptions::default()
    };
    let outcomes: Vec<Outcome> = match way {
        Way::Atomic => import_atomically(&**catalogue, records, &options),
        _ => import(Arc::clone(catalogue), records, options).collect(),
    };
    outcomes.iter().map(described).collect()
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Plain,
    Stopping,
    DryRun,
    Atomic,
}

#[test]
fn records_with_ids_change_their_robots() {
    let all = &[Way::DryRun, Way::Plain, Way::Stopping, Way::Atomic][..];
    let taken = format!("2: {TAKEN}|3 replaced");
    let wrong = "2: No robot has the id 9; leave out the ids to add robots|3 replaced|\
        4: An earlier record has the id 1, too; give each id once|\
        5: year must be an integer from 0 to 9223372036854775807|\
        6: The year cannot be less than zero|7: an id consists of the digits 0 to 9";
    for (ways, file, expected, after) in [
        (
            all,
            "id,name\n1,a\n2,B\n,d\n",
            "2 unchanged|3 replaced|4: The record has no id, which finds its robot",
            [("B", 2), ("a", 1), ("c", 3)],
        ),
        (
            // Names that earlier records have given up are free.
            all,
            "id,name,type,year\n1,z,droid,1\n2,a,droid,2\n3,b,droid,3\n",
            "2 replaced|3 replaced|4 replaced",
            [("a", 2), ("b", 3), ("z", 1)],
        ),
        (
            all,
            "name,id,year\nc,1,5\nb,2,6\n",
            &*taken,
            [("a", 1), ("b", 6), ("c", 3)],
        ),
        (
            all,
            "id,year\n9,1\n1,2\n1,3\n2,x\n3,-1\nx,1\n",
            wrong,
            [("a", 2), ("b", 2), ("c", 3)],
        ),
    ] {
        let expected: Vec<_> = expected.split('|').collect();
        for way in ways.iter().copied() {
            on_both_kinds_of_store(|catalogue| {
                for (year, name) in (1..).zip(["a", "b", "c"]) {
                    catalogue.add(Draft::new(name, "droid", year)).unwrap();
                }
                let before = stored(&catalogue);
                let failures = expected.iter().filter(|outcome| outcome.contains(':'));
                let fails = failures.clone().count() > 0;
                let outcomes = outcomes(&catalogue, file, way);
                match way {
                    Way::Atomic if fails => {
                        assert!(outcomes.iter().eq(failures.copied()), "{outcomes:?}");
                    }
                    Way::Stopping => {
                        let mut all = expected.iter();
                        let first = all.position(|outcome| outcome.contains(':'));
                        let last = first.unwrap_or(expected.len() - 1);
                        assert_eq!(outcomes, expected[..=last]);
                    }
                    _ => assert_eq!(outcomes, expected, "{way:?}"),
                }
                let stays = match way {
                    Way::Stopping => expected[0].contains(':'),
                    way => matches!(way, Way::DryRun) || matches!(way, Way::Atomic) && fails,
                };
                assert_eq!(
                    stored(&catalogue),
                    if stays { before } else { owned(after) }
                );
                let first = catalogue.get(RobotId::new(1).unwrap()).unwrap().unwrap();
                assert_eq!(first.robot_type(), Some("droid"));
            });
        }
    }
}

#[test]
fn imports_beside_each_other_add_each_key_once() {
    let rows: Vec<_> = (0..300).map(|key| format!("a,droid,1,{key}")).collect();
    let file = format!("name,type,year,code\n{}\n", rows.join("\n"));
    on_both_kinds_of_store(|catalogue| {
        let fields = r#"{"properties": {"name": {"unique": false}, "code": {"type": "string", "unique": true}}}"#;
        let definition: Definition = fields.parse().unwrap();
        catalogue.define(Redefinition::new(definition)).unwrap();
        let code = catalogue.definition().field("code").cloned();
        let options = ImportOptions {
            key: code,
            keeps_going: true,
            ..ImportOptions::default()
        };
        let run = || {
            let columns = Columns::of(catalogue.definition()).matching("code");
            let records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(columns);
            let outcomes = import(Arc::clone(&catalogue), records, options.clone());
            outcomes.filter_map(|outcome| outcome.result.err()).count()
        };
        let failed = thread::scope(|scope| {
            let runs = [(); 3].map(|()| scope.spawn(run));
            runs.map(|run| run.join().unwrap())
        });
        assert_eq!(failed, [0; 3]);
        assert_eq!(catalogue.list().unwrap().len(), 300);
    });
}
