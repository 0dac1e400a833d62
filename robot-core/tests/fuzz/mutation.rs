//! Small random mutations of bytes.

use std::fmt;

use proptest::{collection::vec, prelude::*, sample::Index};

/// Bytes with readable debug output.
#[derive(Clone)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Pieces with a meaning in some format.
const PIECES: &str = "\" \\ { } [ ] , : \0 \u{feff} \r\n null \\u0000 \\ud800 - 1e9 / ? % %2F & +";

/// One change at an index, some with a length.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Double(Index, usize),
    Cut(Index),
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        let place = |index: &Index| index.index(length + 1);
        let part = |index: &Index, count: usize| place(index)..length.min(place(index) + count);
        match self {
            Self::Flip(index, bit) if length > 0 => bytes[index.index(length)] ^= 1 << bit,
            Self::Flip(..) => {}
            Self::Insert(index, piece) => {
                bytes.splice(place(index)..place(index), piece.iter().copied());
            }
            Self::Remove(index, count) => drop(bytes.drain(part(index, *count))),
            Self::Double(index, count) => {
                let copy = bytes[part(index, *count)].to_vec();
                bytes.splice(place(index)..place(index), copy);
            }
            Self::Cut(index) => bytes.truncate(place(index)),
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let pieces: Vec<_> = PIECES
        .split(' ')
        .map(|piece| piece.as_bytes().to_vec())
        .collect();
    let piece = prop_oneof![
        3 => prop::sample::select(pieces),
        1 => vec(any::<u8>(), 1..4),
    ];
    let place = any::<Index>;
    prop_oneof![
        2 => (place(), 0..8_u8).prop_map(|(place, bit)| Mutation::Flip(place, bit)),
        4 => (place(), piece).prop_map(|(place, piece)| Mutation::Insert(place, piece)),
        2 => (place(), 1..4_usize).prop_map(|(place, count)| Mutation::Remove(place, count)),
        2 => (place(), 1..40_usize).prop_map(|(place, count)| Mutation::Double(place, count)),
        1 => place().prop_map(Mutation::Cut),
    ]
}

/// Bytes, unchanged in half of the cases, and with a few mutations in the others.
pub(crate) fn mutated(bytes: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let mutations = prop_oneof![Just(Vec::new()), vec(mutation(), 1..4)];
    (bytes, mutations).prop_map(|(mut bytes, mutations)| {
        for mutation in mutations {
            mutation.apply(&mut bytes);
        }
        bytes
    })
}
