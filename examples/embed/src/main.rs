//! Tour of the library: add, list, search, replace, page through and delete robots.
//!
//! `cargo run -p embed` stores robots in memory, `cargo run -p embed sqlite://tour.db` in a file. It
//! deletes the robots that it adds, so it can be run again on the same file.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use robot_core::{Catalogue, CatalogueExt, Draft, Pages, Robot};

fn main() -> ExitCode {
    match run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("embed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(output: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // The URL chooses the store. The rest of the program is the same for all stores.
    let url = env::args_os().nth(1).unwrap_or_else(|| "memory:".into());
    let url = url.to_str().ok_or("the URL of the store is not UTF-8")?;
    let catalogue = robot_core::open(url)?;

    // `add` takes a draft and returns a robot, which has an id.
    let r2d2 = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    let marvin = catalogue.add(Draft::new("Marvin", "mechanical", 1978))?;
    let hal = catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
    writeln!(output, "Added, and listed by name:")?;
    print(output, &catalogue.list()?)?;

    show_violations(&catalogue, output)?;

    // Names are compared byte for byte, so Marvin is not found.
    writeln!(output, "Names that contain R:")?;
    print(output, &catalogue.search("R")?)?;

    // A draft made from a robot changes one member and keeps the others.
    let mut draft = Draft::from(marvin.clone());
    draft.name = Some("Marvin the Paranoid Android".into());
    catalogue.replace(marvin.id(), draft)?;

    // Pages read any number of robots in constant memory, in the order of their names.
    for (page, number) in Pages::new(&catalogue, "").page_size(2).zip(1..) {
        writeln!(output, "Page {number}:")?;
        print(output, &page?)?;
    }

    for robot in [r2d2, marvin, hal] {
        catalogue.delete(robot.id())?;
    }
    writeln!(output, "Deleted; {} left.", catalogue.list()?.len())?;
    Ok(())
}

/// Submits a draft that violates three rules. All violations are reported together, each as a value
/// that a program can match.
fn show_violations(
    catalogue: &dyn Catalogue,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    match catalogue.add(Draft::new("R2-D2", "toaster", -1)) {
        Err(robot_core::Error::Rejected(violations)) => {
            writeln!(output, "Not added:")?;
            for violation in violations.iter() {
                writeln!(output, "  {violation}")?;
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(robot) => Err(format!("{} was added although it is invalid", robot.name()).into()),
    }
}

fn print(output: &mut impl Write, robots: &[Robot]) -> io::Result<()> {
    for robot in robots {
        let (id, kind) = (robot.id(), robot.robot_type().unwrap_or_default());
        let year = robot.year().unwrap_or_default();
        writeln!(output, "  {id:>2}  {kind:10}  {year}  {}", robot.name())?;
    }
    Ok(())
}

/// Whether the reader of the output closed it, as in `embed | head`.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
