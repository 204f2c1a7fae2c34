//! File tools, confined to a directory.
//!
//! All access goes through a handle of the directory, so that no path leads out of it: not by `..`, not by
//! an absolute path and not by a symbolic link. The model never sees the path of the directory
//! itself.

mod change;
mod folder;
mod read;
mod search;
mod walk;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::change::FileChange;
use self::folder::Folder;
use super::off_thread;
use enact_core::signature::Values;
use enact_core::tool::{FnTool, ToolContext, ToolError, Tools};

/// A directory in which an agent can work.
#[derive(Debug, Clone)]
pub struct Files {
    folder: Arc<Folder>,
}

/// A directory that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the folder `{}` cannot be opened: {source}", folder.display())]
pub struct FilesError {
    folder: PathBuf,
    source: io::Error,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// A folder, such as `notes/2025`; the whole of it unless given.
    path: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    /// Such as `notes/today.txt`.
    path: String,
    /// The first line to read; 1 unless given.
    from_line: Option<usize>,
    /// How many lines to read; 400 at most.
    max_lines: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArgs {
    /// The text to look for, as it is: no wildcards.
    text: String,
    /// A folder or a file to search in; everything unless given.
    path: Option<String>,
    /// Whether upper and lower case differ; they do not unless this is true.
    case_sensitive: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArgs {
    /// Such as `reports/today.md`; folders that are missing are made.
    path: String,
    /// The whole content of the file; what was there before is replaced.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendArgs {
    /// Such as `notes/diary.md`; the file and folders that are missing are made.
    path: String,
    /// What comes after all that is there, as it is: end lines with a line break.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArgs {
    /// Such as `notes/today.txt`; the file has to exist.
    path: String,
    /// The text to replace, exactly as the file has it; it must be there once.
    old_text: String,
    /// What takes its place; empty to delete it.
    new_text: String,
}

impl Files {
    /// Opens a directory.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FilesError> {
        let path = folder.as_ref();
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => Ok(Self {
                folder: Arc::new(Folder { dir }),
            }),
            Err(source) => Err(FilesError {
                folder: path.to_owned(),
                source,
            }),
        }
    }

    /// All file tools: `list_files`, `read_file`, `search_files`, and `write_file`, `append_file` and
    /// `edit_file`, which ask a person first.
    pub fn tools(&self) -> Tools {
        self.reading_tools()
            .with(self.write_file())
            .with(self.append_file())
            .with(self.edit_file())
    }

    /// The read-only tools.
    pub fn reading_tools(&self) -> Tools {
        Tools::new()
            .with(self.list_files())
            .with(self.read_file())
            .with(self.search_files())
    }

    /// The tool `list_files`: lists a directory.
    pub fn list_files(&self) -> FnTool {
        self.tool(
            "list_files",
            "Lists the files and folders in a folder; names of folders end with `/`.",
            |folder, args: ListArgs, _| walk::list(folder, &args.path.unwrap_or_default()),
        )
        .read_only()
    }

    /// The tool `read_file`: reads lines of a text file.
    pub fn read_file(&self) -> FnTool {
        self.tool(
            "read_file",
            "Reads a text file, whole or from a line on.",
            |folder, args: ReadArgs, context| {
                let (first, most) = (args.from_line, args.max_lines);
                read::lines(folder, &args.path, first, most, context.secrets())
            },
        )
        .read_only()
    }

    /// The tool `search_files`: finds the lines that contain a text.
    pub fn search_files(&self) -> FnTool {
        self.tool(
            "search_files",
            "Finds the lines that hold a text, in all text files below a folder, as \
             `file:line: text`.",
            |folder, args: SearchArgs, context| {
                let path = args.path.unwrap_or_default();
                let case = match args.case_sensitive {
                    Some(true) => search::Case::Differs,
                    _ => search::Case::Ignored,
                };
                search::find(folder, &path, &args.text, case, context)
            },
        )
        .read_only()
    }

    /// The tool `write_file`: creates or replaces a file, after a person approves.
    pub fn write_file(&self) -> FnTool {
        self.tool(
            "write_file",
            "Writes a text file: makes it, or replaces what it holds.",
            |folder, args: WriteArgs, _| write::replace(folder, &args.path, &args.content),
        )
        .require_confirmation()
        .serial()
    }

    /// The tool `append_file`: appends to a file, after a person approves.
    pub fn append_file(&self) -> FnTool {
        self.tool(
            "append_file",
            "Adds text to the end of a text file: keeps what it holds, and makes it if it is \
             missing.",
            |folder, args: AppendArgs, _| write::append(folder, &args.path, &args.text),
        )
        .require_confirmation()
        .serial()
    }

    /// The tool `edit_file`: replaces a text that occurs once in a file, after a person approves.
    pub fn edit_file(&self) -> FnTool {
        self.tool(
            "edit_file",
            "Edits a text file: replaces a text that it holds exactly once, and keeps the rest.",
            |folder, args: EditArgs, _| write::edit(folder, &args),
        )
        .require_confirmation()
        .serial()
    }

    /// The change that a call of `write_file`, `append_file` or `edit_file` with these arguments would make,
    /// so that a person can be shown a diff. `None` for other tools. Reads the file, and changes
    /// nothing.
    ///
    /// # Errors
    /// If the call would fail, or the file is not text.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// use enact::tool::builtin::Files;
    ///
    /// std::fs::write(folder.path().join("a.txt"), "one\ntwo\n")?;
    /// let files = Files::open(folder.path())?;
    /// let args = enact::values! { path: "a.txt", old_text: "two", new_text: "2" };
    /// let change = files.change("edit_file", &args).map_err(|error| error.to_string())?;
    /// let change = change.ok_or("no change")?;
    /// assert_eq!(change.before.as_deref(), Some("one\ntwo\n"));
    /// assert_eq!(change.after, "one\n2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change(&self, tool: &str, args: &Values) -> Result<Option<FileChange>, ToolError> {
        change::of(&self.folder, tool, args)
    }

    fn tool<A, T>(
        &self,
        name: &str,
        description: &str,
        act: fn(&Folder, A, &ToolContext) -> Result<T, ToolError>,
    ) -> FnTool
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + Send + 'static,
    {
        let folder = Arc::clone(&self.folder);
        FnTool::new(name, description, move |args: A, context| {
            let folder = Arc::clone(&folder);
            off_thread(move || act(&folder, args, &context))
        })
        .built_in()
    }
}

#[cfg(test)]
mod tests;
