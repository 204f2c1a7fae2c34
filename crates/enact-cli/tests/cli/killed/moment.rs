//! When a process is killed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use super::dice::Dice;
use super::model::{FILE, Model};
use crate::command::Enact;
use crate::place::Place;

const SIGKILL: i32 = 9;

/// A moment in the life of a process.
#[derive(Debug)]
pub(super) struct Moment {
    sign: Sign,
    /// So long after the sign.
    after: Duration,
}

/// What is waited for.
#[derive(Debug)]
enum Sign {
    /// Nothing: the moment counts from the start.
    Start,
    /// The model is asked.
    Asked,
    /// This record was written. It is being made durable, and nothing that follows from it has
    /// been done yet.
    Recorded(usize),
    /// A line was appended to the file: its result has not been recorded yet.
    Appended,
}

/// A process that is to be started.
pub(super) struct Process {
    pub(super) command: Enact,
    /// How many records it finds.
    pub(super) records: usize,
    /// How many questions it answers.
    pub(super) answers: usize,
    /// Whether it appends a line.
    pub(super) appends: bool,
}

/// How a process ended.
pub(super) enum End {
    Killed,
    ByItself(Output),
}

impl Moment {
    /// A moment for a process that finds this many records, answers, and may append a line.
    pub(super) fn draw(dice: &mut Dice, process: &Process) -> Self {
        let Process {
            records, answers, ..
        } = process;
        let (sign, within) = match dice.below(if process.appends { 100 } else { 60 }) {
            // A process that is to begin the run is killed before it does more often.
            0..40 if *records == 0 => (Sign::Start, 25_000),
            0..20 => (Sign::Start, 40_000),
            20..30 => (Sign::Asked, 6_000),
            30..60 => (Sign::Recorded(records + dice.below(8) as usize), 2_000),
            // After the answers comes the intent.
            60..80 => (Sign::Recorded(records + answers), 400),
            _ => (Sign::Appended, 400),
        };
        // Many windows are short, and open with the sign.
        let within = if dice.percent(50) { within } else { within / 8 };
        Self {
            sign,
            after: dice.micros(within),
        }
    }

    /// Starts the process, and kills it when the moment comes, unless it ends before.
    pub(super) fn strike(&self, process: Process, place: &Place, model: &Model) -> End {
        let mut watch = Watch::new(place, model);
        let mut child = process.command.spawn();
        let mut has_shown = false;
        let mut since = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if !has_shown && watch.shows(&self.sign) {
                has_shown = true;
                since = Instant::now();
            }
            if has_shown && since.elapsed() >= self.after {
                // It may have ended just now: then there is nothing left to kill.
                let _ = child.kill();
                break;
            }
            std::thread::yield_now();
        }
        let output = child.wait_with_output().unwrap();
        match output.status.signal() {
            Some(SIGKILL) => End::Killed,
            _ => End::ByItself(output),
        }
    }
}

/// Looks out for signs.
struct Watch<'a> {
    model: &'a Model,
    file: PathBuf,
    log: PathBuf,
    asked: usize,
    length: u64,
    /// The log of the database as far as it was read: which file, and up to where.
    read: (u64, u64),
}

impl<'a> Watch<'a> {
    fn new(place: &Place, model: &'a Model) -> Self {
        let mut watch = Self {
            model,
            file: place.files.path().join(FILE),
            log: place.store_file("-wal"),
            asked: model.asked(),
            length: 0,
            read: (0, 0),
        };
        watch.length = watch.file_length();
        watch.unread();
        watch
    }

    fn shows(&mut self, sign: &Sign) -> bool {
        match sign {
            Sign::Start => true,
            Sign::Asked => self.model.asked() > self.asked,
            Sign::Appended => self.file_length() > self.length,
            Sign::Recorded(position) => {
                let new = self.unread();
                (0..new.len()).any(|at| event_position(&new[at..]) == Some(*position))
            }
        }
    }

    fn file_length(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len())
    }

    /// What was added to the log of the database. It begins anew with each process.
    fn unread(&mut self) -> Vec<u8> {
        let mut new = Vec::new();
        let Ok(mut log) = File::open(&self.log) else {
            return new;
        };
        let found = log.metadata().unwrap();
        let (file, end) = self.read;
        let begin = if file == found.ino() { end } else { 0 };
        if begin < found.len() {
            log.seek(SeekFrom::Start(begin)).unwrap();
            log.read_to_end(&mut new).unwrap();
        }
        self.read = (found.ino(), begin + new.len() as u64);
        new
    }
}

/// The position of an event, if these bytes begin with a row of the table `events` as SQLite writes it:
/// how long the head is; what follows for run, position, time, event and body (8 and 9 are the numbers 0
/// and 1 themselves, 1 is a byte, 6 are eight, and 13 and more are text); and then that.
fn event_position(bytes: &[u8]) -> Option<usize> {
    let (
        &[
            head @ 7..=9,
            run @ (1 | 9),
            position @ (1 | 8 | 9),
            6,
            word @ 13..=127,
            _,
        ],
        _,
    ) = bytes.split_first_chunk()?
    else {
        return None;
    };
    let mut rest = bytes.get(usize::from(head)..)?;
    if run == 1 {
        rest.split_off_first()?;
    }
    let position = match position {
        1 => *rest.split_off_first()?,
        number => number - 8,
    };
    let word = rest.get(8..8 + usize::from((word - 13) / 2))?;
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
    (!word.is_empty() && word.iter().all(is_word)).then(|| position.into())
}
