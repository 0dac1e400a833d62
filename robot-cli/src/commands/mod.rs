//! Commands, one module each, two for `import`: the arguments, and a `run` function.

pub(crate) mod add;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod import_arguments;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod restore;
pub(crate) mod search;
pub(crate) mod summary;
pub(crate) mod token;
pub(crate) mod update;
