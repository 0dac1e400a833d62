//! The robots in the order of their names, with the text of the names side by side.
//!
//! A search reads every name. Names that lie wherever the allocator put them cost a cache miss
//! each, so the names are kept once more, in blocks of contiguous text, each searched as a whole
//! at several gigabytes a second. The blocks are in order, and so are the names in a block: what
//! a search finds needs no sorting, and it ends as soon as it has found enough.

use std::{
    collections::BTreeMap,
    iter,
    ops::Bound::{self, Excluded, Included, Unbounded},
    sync::Arc,
};

use memchr::memmem::Finder;

use crate::{
    catalogue::PageRequest,
    model::{Robot, Violation},
};

/// How many bytes of text a block may have. Smaller blocks make a search start over more often;
/// larger ones make a change move more bytes. A name, of at most 1020 bytes, fits several times.
const MOST_TEXT: usize = 8192;

/// A block with less text than this joins the one before it, lest there be many small ones.
const LEAST_TEXT: usize = MOST_TEXT / 4;

/// What ends each name in a block. No name contains it.
const END: char = '\0';

/// Robots by name, no two of the same.
#[derive(Debug, Default)]
pub(super) struct ByName {
    /// Each block, under a text that every name in earlier blocks is less than, and none in this
    /// one. The first block is under the empty text, so that every name has one to be in.
    blocks: BTreeMap<String, Block>,
}

/// Robots that are neighbours by name.
#[derive(Debug, Default)]
struct Block {
    /// The names, in order, each followed by its end.
    text: String,
    /// The robots, in the same order.
    entries: Vec<Entry>,
}

/// A robot, and where in the text its name is.
#[derive(Debug)]
struct Entry {
    start: usize,
    end: usize,
    robot: Arc<Robot>,
}

impl ByName {
    /// The robot of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Robot>> {
        let (_, block) = self.blocks.range::<str, _>(up_to(name)).next_back()?;
        let position = block.position(name).ok()?;
        Some(&block.entries[position].robot)
    }

    /// Adds a robot, unless one has its name.
    pub(super) fn insert(&mut self, robot: Arc<Robot>) -> Result<(), Violation> {
        let mut place = self.blocks.range_mut::<str, _>(up_to(robot.name()));
        let block = match place.next_back() {
            Some((_, block)) => block,
            None => self.blocks.entry(String::new()).or_default(),
        };
        block.insert(robot)?;
        if let Some((first, later)) = block.split() {
            self.blocks.insert(first, later);
        }
        Ok(())
    }

    /// Puts a robot in the place of the one that has its name.
    pub(super) fn replace(&mut self, robot: Arc<Robot>) {
        let mut place = self.blocks.range_mut::<str, _>(up_to(robot.name()));
        if let Some((_, block)) = place.next_back()
            && let Ok(position) = block.position(robot.name())
        {
            block.entries[position].robot = robot;
        }
    }

    /// Forgets the robot of this name.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some((first, block)) = self.blocks.range_mut::<str, _>(up_to(name)).next_back() {
            block.remove(name);
            if block.text.len() < LEAST_TEXT && !first.is_empty() {
                let first = first.clone();
                self.join_to_the_one_before(&first);
            }
        }
    }

    fn join_to_the_one_before(&mut self, first: &str) {
        if let Some(later) = self.blocks.remove(first)
            && let Some((_, block)) = self.blocks.range_mut::<str, _>(up_to(first)).next_back()
        {
            block.append(later);
            if let Some((first, later)) = block.split() {
                self.blocks.insert(first, later);
            }
        }
    }

    /// What is to be read of the first robots, by name, of those that the request asks for.
    pub(super) fn page<T>(&self, request: PageRequest<'_>, read: impl Fn(&Robot) -> T) -> Vec<T> {
        let PageRequest {
            containing,
            after,
            limit,
        } = request;
        // The text contains what no name does.
        if containing.contains(END) {
            return Vec::new();
        }
        let finder = Finder::new(containing);
        let around = self.blocks.range::<str, _>(up_to(after)).next_back();
        let later = self.blocks.range::<str, _>((Excluded(after), Unbounded));
        let in_part = around.map(|(_, block)| block.search(&finder, block.start_after(after)));
        let in_whole = later.flat_map(|(_, block)| block.search(&finder, 0));
        let found = in_part.into_iter().flatten().chain(in_whole);
        found.take(limit).map(|robot| read(robot)).collect()
    }
}

/// The bounds of what is not after this text. The block that is last within them is the one for
/// the text.
fn up_to(text: &str) -> (Bound<&str>, Bound<&str>) {
    (Unbounded, Included(text))
}

impl Block {
    /// Where the robot of this name is, or else where it would be.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|entry| self.text[entry.start..entry.end].cmp(name))
    }

    /// Where in the text the name begins that has this position.
    fn start_of(&self, position: usize) -> usize {
        let entry = self.entries.get(position);
        entry.map_or(self.text.len(), |entry| entry.start)
    }

    fn insert(&mut self, robot: Arc<Robot>) -> Result<(), Violation> {
        let name = robot.name();
        let Err(position) = self.position(name) else {
            return Err(Violation::NameTaken);
        };
        let start = self.start_of(position);
        let end = start + name.len();
        self.text.insert_str(start, name);
        self.text.insert(end, END);
        self.entries.insert(position, Entry { start, end, robot });
        self.move_to(position + 1, end + 1);
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        if let Ok(position) = self.position(name) {
            let Entry { start, end, .. } = self.entries.remove(position);
            self.text.drain(start..=end);
            self.move_to(position, start);
        }
    }

    /// Adds the robots of the block that comes after this one.
    fn append(&mut self, later: Self) {
        let (position, start) = (self.entries.len(), self.text.len());
        self.text.push_str(&later.text);
        self.entries.extend(later.entries);
        self.move_to(position, start);
    }

    /// Takes the later half away, with its first name, where there is too much text.
    fn split(&mut self) -> Option<(String, Self)> {
        if self.text.len() <= MOST_TEXT {
            return None;
        }
        let middle = self.text.len() / 2;
        let position = self.entries.partition_point(|entry| entry.start < middle);
        let first = self.entries.get(position)?;
        let (start, name) = (first.start, first.robot.name().to_owned());
        let mut later = Self {
            text: self.text.split_off(start),
            entries: self.entries.split_off(position),
        };
        later.move_to(0, 0);
        // Where names come in order, this half stays as it is.
        self.text.shrink_to_fit();
        self.entries.shrink_to_fit();
        Some((name, later))
    }

    /// Notes that the names from this position on begin at `start` in the text.
    fn move_to(&mut self, position: usize, start: usize) {
        let entries = &mut self.entries[position..];
        // A distance back wraps around: one loop for both ways.
        let distance = entries
            .first()
            .map_or(0, |first| start.wrapping_sub(first.start));
        for entry in entries {
            entry.start = entry.start.wrapping_add(distance);
            entry.end = entry.end.wrapping_add(distance);
        }
    }

    /// Where in the text the names begin that come after this one.
    fn start_after(&self, name: &str) -> usize {
        match self.position(name) {
            Ok(position) => self.start_of(position + 1),
            Err(position) => self.start_of(position),
        }
    }

    /// The robots whose name contains what the finder looks for, from this start in the text on.
    fn search<'a>(
        &'a self,
        finder: &'a Finder<'_>,
        mut start: usize,
    ) -> impl Iterator<Item = &'a Arc<Robot>> {
        let mut entries = self.entries.iter();
        iter::from_fn(move || {
            let hit = start + finder.find(self.text.as_bytes().get(start..)?)?;
            let entry = entries.find(|entry| hit < entry.end)?;
            start = entry.end + 1;
            Some(&entry.robot)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, RobotId, ValidDraft};

    fn robot(name: &str) -> Arc<Robot> {
        let draft = ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap();
        Arc::new(draft.with_id(RobotId::new(1).unwrap()))
    }

    /// Robots of these names, added in this order.
    fn by_name<'a>(names: impl IntoIterator<Item = &'a String>) -> ByName {
        let mut robots = ByName::default();
        for name in names {
            robots.insert(robot(name)).unwrap();
        }
        robots
    }

    fn found(robots: &ByName, containing: &str, after: &str) -> Vec<String> {
        let request = PageRequest {
            containing,
            after,
            limit: usize::MAX,
        };
        robots.page(request, |robot| robot.name().to_owned())
    }

    /// 2000 names in order, most of them short, some of up to 800 bytes.
    fn names() -> Vec<String> {
        let name = |number: usize| match number % 50 {
            0 => format!("R{number:04}{}", "🤖".repeat(number / 10)),
            _ => format!("R{number:04}"),
        };
        (0..2000).map(name).collect()
    }

    /// The names, first those at even places, then the others from the last to the first.
    fn shuffled(names: &[String]) -> impl Iterator<Item = &String> {
        let odd = names.iter().skip(1).step_by(2);
        names.iter().step_by(2).chain(odd.rev())
    }

    /// Every block has its names in order and no others, and no more text than it may have.
    fn assert_whole(robots: &ByName) {
        for (first, block) in &robots.blocks {
            let names = block.entries.iter().map(|entry| entry.robot.name());
            assert!(names.clone().all(|name| first.as_str() <= name));
            assert!(names.clone().is_sorted());
            assert_eq!(
                block.text,
                names.flat_map(|name| [name, "\0"]).collect::<String>()
            );
            let places = block
                .entries
                .iter()
                .map(|entry| &block.text[entry.start..entry.end]);
            assert!(places.eq(block.entries.iter().map(|entry| entry.robot.name())));
            assert!(block.text.len() <= MOST_TEXT);
        }
    }

    #[test]
    fn blocks_split_and_join_and_keep_the_order() {
        let names = names();
        let mut robots = by_name(shuffled(&names));
        assert_whole(&robots);
        assert!(robots.blocks.len() > 3, "{}", robots.blocks.len());
        assert_eq!(found(&robots, "", ""), names);

        for (index, name) in names.iter().enumerate() {
            if index % 100 != 0 {
                robots.remove(name);
            }
        }
        assert_whole(&robots);
        let text: usize = names.iter().step_by(100).map(|name| name.len() + 1).sum();
        assert!(
            robots.blocks.len() <= 1 + text / LEAST_TEXT,
            "{}",
            robots.blocks.len()
        );
        assert!(found(&robots, "", "").iter().eq(names.iter().step_by(100)));

        for name in &names {
            robots.remove(name);
        }
        assert_whole(&robots);
        assert_eq!(robots.blocks.len(), 1);
        assert_eq!(found(&robots, "", ""), [""; 0]);
    }

    #[test]
    fn a_robot_is_found_wherever_its_name_is_in_its_block() {
        let names = names();
        let robots = by_name(shuffled(&names));
        for (index, name) in names.iter().enumerate() {
            assert_eq!(robots.get(name).unwrap().name(), name);
            assert_eq!(found(&robots, &name[1..5], ""), [name.as_str()]);
            assert!(found(&robots, "R", name).iter().eq(&names[index + 1..]));
        }
        assert_eq!(robots.get(""), None);
        assert_eq!(robots.get("R"), None);
        assert_eq!(robots.get("R0001\0R0002"), None);
    }

    #[test]
    fn nothing_is_found_across_two_names() {
        let robots = by_name(&["ab".to_owned(), "cd".to_owned()]);
        for containing in ["bc", "b\0c", "\0", "b\0", "\0c"] {
            assert_eq!(found(&robots, containing, ""), [""; 0], "{containing:?}");
        }
        assert_eq!(found(&robots, "", "ab\0"), ["cd"]);
    }

    #[test]
    fn a_taken_name_is_kept_as_it_is() {
        let mut robots = by_name(&["a".to_owned()]);
        assert_eq!(robots.insert(robot("a")), Err(Violation::NameTaken));
        assert_eq!(found(&robots, "", ""), ["a"]);
    }
}
