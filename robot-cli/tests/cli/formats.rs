//! Tests of all commands in all formats.

use crate::sandbox::Sandbox;

#[test]
fn robots_are_printed_in_each_format() {
    // Numbers are exact, and aligned to the right.
    Sandbox::with_three_robots().examples(
        r#"
        list -> 0 ID  NAME      TYPE        YEAR\n 2  Bender    mechanical  2996\n 3  HAL 9000  virtual        0\n 1  R2-D2     droid       1977
        list --format json -> 0 [\n{"id":"2","name":"Bender","type":"mechanical","year":2996},\n{"id":"3","name":"HAL 9000",*},\n{"id":"1","name":"R2-D2","type":"droid","year":1977}\n]
        list --format ndjson -> 0 {"id":"2","name":"Bender",*}\n{"id":"3","name":"HAL 9000",*}\n{"id":"1","name":"R2-D2",*}
        list --format csv -> 0 id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977
        search  --format csv -> 0 id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977
        search e --format table -> 0 ID  NAME    TYPE        YEAR\n 2  Bender  mechanical  2996
        search e --format json -> 0 [\n{"id":"2","name":"Bender","type":"mechanical","year":2996}\n]
        get 3 -> 0 ID  NAME      TYPE     YEAR\n 3  HAL 9000  virtual     0
        get 3 --format json -> 0 {"id":"3","name":"HAL 9000","type":"virtual","year":0}
        get 3 --format ndjson -> 0 {"id":"3","name":"HAL 9000","type":"virtual","year":0}
        get 3 --format csv -> 0 id,name,type,year\n3,HAL 9000,virtual,0
        update 2 --year 9223372036854775807 -> 0 ID  NAME    TYPE                       YEAR\n 2  Bender  mechanical  9223372036854775807
        update 2 --year 9223372036854775807 --format json -> 0 {"id":"2","name":"Bender","type":"mechanical","year":9223372036854775807}
        update 2 --year 9223372036854775807 --format csv -> 0 id,name,type,year\n2,Bender,mechanical,9223372036854775807
        add a --type droid --year 1 -> 0 ID  NAME  TYPE   YEAR\n 4  a     droid     1
        add b --type droid --year 1 --format json -> 0 {"id":"5","name":"b","type":"droid","year":1}
        add c --type droid --year 1 --format csv -> 0 id,name,type,year\n6,c,droid,1
        delete 1 -> 0 Deleted robot 1.
        delete 2 --format json -> 0
        delete 3 --format ndjson -> 0
        delete 4 --format csv -> 0
        list --format csv -> 0 id,name,type,year\n5,b,droid,1\n6,c,droid,1"#,
    );
}

#[test]
fn list_and_search_without_result_succeed() {
    Sandbox::with_no_robots().examples(
        r"
        list -> 0 ! No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977
        search  -> 0 ! No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977
        list --format json -> 0 []
        list --format ndjson -> 0
        list --format csv -> 0 id,name,type,year",
    );
    Sandbox::with_three_robots().examples(
        r"
        search ben\n -> 0 ! No robot has 'ben*' in its name (the search is case-sensitive without --ignore-case). List all robots with: robot-cli list
        search zora --ignore-case -> 0 ! No robot has 'zora' in its name. List all robots with: robot-cli list
        search HAL --type droid -> 0 ! *and meets these conditions (the search*
        search zora --format json -> 0 []
        list --year-from 3000 -> 0 ! No robot meets these conditions. List all robots with: robot-cli list
        list --limit 0 -> 0
        export --year-from 3000 --format json -> 0 []",
    );
}

#[test]
fn chosen_fields_are_printed() {
    Sandbox::with_three_robots().examples(
        r#"
        update 1 --year 1 -> 0 *
        get 1 --fields=revision,id,name -> 0 REVISION  ID  NAME\n       4   1  R2-D2
        get 1 --fields=revision --format=json -> 0 {"revision":4}
        list --limit=1 --fields=year,type -> 0 YEAR  TYPE\n2996  mechanical
        search R2 --fields=revision,id,name --format=csv -> 0 revision,id,name\n4,1,R2-D2
        list --fields=name,colour -> 2 ! *colour*
        get 1 --fields=name,colour -> 2 ! *colour*
        list --count --fields=id -> 2 ! *cannot be used with*"#,
    );
}
