//! Whether a text says what its author is about to do, instead of an answer.
//!
//! An answer may be in the first person and in the future, too. So only the last sentence counts, it
//! has to begin with an intention, and what is intended has to be something that tools do.

use super::task::Tooling;
use crate::tool::ToolSpec;

/// A text that announces something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    /// Something that tools do. It may be an answer all the same.
    Deed,
    /// The call of a tool, which it names.
    Call,
}

/// Words by which one says what one does next, with commas between them.
const INTENTIONS: &str = "\
    i will, i'll, i shall, i am going to, i'm going to, i need to, i have to, let me, let's, \
    let us, i want to, going to, \
    my next step is to, i am about to, i'm about to";
/// Words by which one may as well say what others should do. What is intended has to be named as the
/// tools are.
const ADVICE: &str = "\
    i should, i must, i can use, i would, i could, i'd, we will, we'll, we need to, we should, \
    we can, we could, we must, next step is to";
/// Words for what is being done.
const PRESENT: &str = "i am, i'm";

/// What tools do, with commas between the words.
const DEEDS: &str = "\
    search, look, find, check, double-check, recheck, fetch, query, retrieve, read, open, get, gather, determine, \
    calculate, compute, verify, confirm, write, create, update, edit, modify, delete, remove, \
    list, add, send, save, multiply, divide, subtract, analyze, analyse, review, examine, \
    inspect, investigate, explore, scan, browse, download, upload, load, convert, summarize, \
    summarise, compare, rename, run, execute, submit, figure, test, calculation, lookup";
/// What one does with anything, so that a tool has to be spoken of.
const USES: &str = "use, call, invoke, apply, utilize, employ";
/// What one begins with, if nothing else is said.
const BEGINNINGS: &str = "start, begin, proceed, continue, try";
/// What may stand before the word for a deed.
const BEFORE_DEEDS: &str = "\
    now, first, then, also, just, quickly, next, again, simply, directly, immediately, carefully, \
    go, ahead, and, by, to, with, a, the, attempt, help, you, need, have, take, do, perform, be, double, \
    start, begin, proceed, continue, try";
/// What may stand before an intention.
const LEADS: &str = "\
    now, so, then, first, next, and, but, ok, okay, sure, well, alright, great, therefore, thus, \
    hence, i think, i guess, also, finally, again, certainly, absolutely, yes, hmm, the";
/// What looks like a deed and is none: `I look forward to`, `I will get back to you`.
const IDIOMS: &str = "look forward, looking forward, get back, add that, list of, get it, find you";

/// What makes a sentence an offer or a request, not an announcement.
const CONDITIONS: &str = "\
    if you, if needed, if necessary, if required, once you, when you, as soon as you, after you, \
    unless you, until you, whenever you, would you, let me know, by tomorrow, by monday, \
    by tuesday, by wednesday, by thursday, by friday, by the end of, by next";
/// What an offer, a request or a letter begins with.
const ADDRESSES: &str = "\
    if, please, provide, tell me, send me, share, give me, upload, dear, hi, hello, hey";
/// What follows is a result.
const RESULTS: &str = "which is, which gives, which equals, equals, the answer is, the result is";

/// What one says to people who wait.
const COURTESIES: &str = "\
    one moment, just a moment, a moment, one second, just a second, one minute, please wait, \
    hold on, please hold, hang on, give me a moment, give me a second, give me a minute, \
    give me one moment, bear with me, please bear with me, stand by, please stand by, wait a moment, \
    this may take, this might take, this will take, this should take, this will only take, \
    this should only take, thank you for your patience, thanks for your patience, \
    thank you for waiting, please be patient, i'll let you know, i will let you know, \
    i'll be right back, i will be right back, i'll get back to you, i will get back to you, \
    i'll report back, i will report back, i'll do that, let me do that, let me work on, \
    i'll process your request";
const LONGEST_COURTESY: usize = 80;

/// Verbs that make a sentence of one that begins with `Searching …`.
const VERBS: &str = "\
    is, are, was, were, has, have, had, can, cannot, could, will, would, should, may, might, must, \
    does, do, did, shows, showed, gives, gave, returns, returned, fails, failed, helps, helped, \
    makes, made, takes, took, requires, required, means, meant, allows, allowed, yields, found, \
    finds, keeps, causes, caused, leads, led, improves, improved, reduces, seems, costs, needs, \
    works, worked, isn't, doesn't, won't, can't, didn't, reveals, revealed, confirms, confirmed";
/// Gerunds that are hardly ever an answer.
const UNDER_WAY: &str = "fetch, retrieve, query";

fn is_in(list: &str, word: &str) -> bool {
    list.split(", ").any(|entry| entry == word)
}

/// What a text announces in its last sentence.
pub(super) fn find(tooling: &Tooling, text: &str) -> Option<Announced> {
    let text = text.replace('’', "'");
    let mut sentences = sentences(&text);
    let has = |sentence: &Sentence, part: fn(char) -> bool| sentence.text.contains(part);
    sentences.retain(|sentence| has(sentence, char::is_alphanumeric));
    if sentences.last().is_some_and(Sentence::is_figure) {
        return None;
    }
    sentences.retain(|sentence| has(sentence, char::is_alphabetic));
    let all = sentences.len();
    while sentences.last().is_some_and(|last| is_courtesy(last.text)) {
        sentences.pop();
    }
    let tools = Names::new(tooling);
    let mut is_waiting = sentences.len() < all;
    let Some(mut last) = sentences.pop() else {
        return (is_waiting && tools.is_any()).then_some(Announced::Deed);
    };
    if let Some((said, asked)) = last.text.rsplit_once(", ")
        && is_courtesy(asked)
    {
        last.text = said;
        is_waiting = true;
    }
    if last.is_question || last.is_quoted {
        return None;
    }
    let lower = last.text.to_lowercase();
    let begins = |list: &str| list.split(", ").any(|words| starts_with(&lower, words));
    let has = |list: &str| list.split(", ").any(|words| has_words(&lower, words));
    if begins(ADDRESSES) || has(CONDITIONS) || has(RESULTS) || is_equation(&lower) {
        return None;
    }
    let is_named = tools.are_named(&lower);
    if is_named && (last.intends(&tools) || last.is_under_way(&tools, is_waiting)) {
        return Some(Announced::Call);
    }
    let is_announced =
        || last.intends(&tools) || last.advises(&tools) || last.is_under_way(&tools, is_waiting);
    (tools.is_any() && is_announced()).then_some(Announced::Deed)
}

fn is_courtesy(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.len() <= LONGEST_COURTESY
        && COURTESIES
            .split(", ")
            .any(|words| starts_with(&lower, words))
}

/// One sentence of a text.
#[derive(Debug)]
struct Sentence<'a> {
    text: &'a str,
    is_question: bool,
    /// Whether it breaks off, or leads over to something.
    is_open: bool,
    is_quoted: bool,
}

/// The sentences of a text. A point inside a number or a name ends nothing.
fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut quotes = Quotes::default();
    let ends = text.char_indices().filter(|(at, c)| {
        // A quote may close behind the end.
        let rest =
            text[at + c.len_utf8()..].trim_start_matches(['"', '\'', '”', ')', ']', '*', '`']);
        let is_end = rest.chars().next().is_none_or(char::is_whitespace);
        matches!(c, '.' | '!' | '?' | '\n' | ':' | '…') && is_end
    });
    let ends: Vec<(usize, usize)> = ends.map(|(at, c)| (at, at + c.len_utf8())).collect();
    for (at, next) in ends.into_iter().chain([(text.len(), text.len())]) {
        sentences.push(Sentence::new(&text[start..at], &text[at..], quotes));
        quotes.add(&text[start..next]);
        start = next;
    }
    sentences
}

/// The quotation marks so far that are still open.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    is_straight_open: bool,
    curly: i32,
}

impl Quotes {
    fn add(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '"' => self.is_straight_open = !self.is_straight_open,
                '“' => self.curly += 1,
                '”' => self.curly -= 1,
                _ => {}
            }
        }
    }
}

impl<'a> Sentence<'a> {
    fn new(text: &'a str, end: &str, quotes: Quotes) -> Self {
        let own = text.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '*' | '#' | '-' | '_' | '”' | ')')
        });
        let own = own.trim_end_matches(|c: char| c.is_whitespace() || c == '*');
        // The quote that closes behind the last end stands before this sentence.
        let (own, is_inside) = match own.strip_prefix('"') {
            Some(rest) if quotes.is_straight_open => (rest.trim_start(), false),
            _ => (own, quotes.is_straight_open),
        };
        let begins_quoted = own.starts_with(['"', '“', '«', '„', '>', '|']);
        Self {
            text: own.trim_end_matches("..").trim_end(),
            is_question: end.starts_with('?'),
            is_open: end.starts_with(['…', ':']) || own.ends_with(".."),
            is_quoted: is_inside || begins_quoted || quotes.curly > 0,
        }
    }

    /// Whether it is a result: `397.8`, `2 + 3 = 5`.
    fn is_figure(&self) -> bool {
        let has_digit = self.text.chars().any(|c| c.is_ascii_digit());
        let is_letter = |c: char| c.is_alphabetic();
        let is_number = !self.text.contains(['+', '*', '/', '×', '(']);
        has_digit && !self.text.contains(is_letter) && (is_number || self.text.contains('='))
    }

    /// Whether it begins with an intention to do what tools do.
    fn intends(&self, tools: &Names) -> bool {
        let lower = self.text.to_lowercase();
        let Some(intended) = after_lead(&lower, INTENTIONS) else {
            return false;
        };
        is_thinking(&lower, intended) || self.deed(intended, tools).is_some()
    }

    /// Whether it says what should be done in the words in which the tools are named.
    fn advises(&self, tools: &Names) -> bool {
        let lower = self.text.to_lowercase();
        let Some(advised) = after_lead(&lower, ADVICE) else {
            return false;
        };
        let before = lower[..lower.len() - advised.len()].trim_end();
        let is_own = ["we need to", "i should", "i must"]
            .iter()
            .any(|own| before.ends_with(own));
        tools.are_named(&lower) || (is_own && self.deed(advised, tools) == Some(Deed::OfTool))
    }

    /// The deed that comes first in what is intended.
    fn deed(&self, intended: &str, tools: &Names) -> Option<Deed> {
        let words: Vec<&str> = words(intended).collect();
        let at = words.iter().position(|word| !is_in(BEFORE_DEEDS, word));
        let rest = at.map_or(&[][..], |at| &words[at..]);
        let begins = words[..words.len() - rest.len()].iter();
        let begins = begins.clone().any(|word| is_in(BEGINNINGS, word));
        let Some((first, object)) = rest.split_first() else {
            return begins.then_some(Deed::Usual);
        };
        let idiom = format!("{first} {}", object.first().unwrap_or(&""));
        if is_in(IDIOMS, &idiom) || self.is_capital(first) {
            return None;
        }
        if tools.is_verb(first) {
            return Some(Deed::OfTool);
        }
        if is_form_of(USES, first) {
            let is_tool =
                |word: &&str| tools.is_word(word) || matches!(*word, "tool" | "tools" | "function");
            return object.iter().any(is_tool).then_some(Deed::Usual);
        }
        (begins || is_form_of(DEEDS, first)).then_some(Deed::Usual)
    }

    /// Whether a word is capitalised here: in a title, verbs are.
    fn is_capital(&self, word: &str) -> bool {
        let mut found = self.text.split(|c: char| !c.is_alphanumeric());
        found.any(|own| own.starts_with(char::is_uppercase) && own.to_lowercase() == word)
    }

    /// Whether it says what is being done: `Searching for …`, `I'm checking …`.
    fn is_under_way(&self, tools: &Names, is_waiting: bool) -> bool {
        let lower = self.text.to_lowercase();
        let mut words = words(&lower).peekable();
        while words.next_if(|word| is_in(LEADS, word)).is_some() {}
        let rest: Vec<&str> = words.collect();
        let joined = rest.join(" ");
        let own = PRESENT.split(", ").find(|own| starts_with(&joined, own));
        let own = own.map_or(0, |own| own.split(' ').count());
        let mut rest = rest[own..]
            .iter()
            .skip_while(|word| is_in("now, currently, just", word));
        let Some(gerund) = rest.next().filter(|word| word.ends_with("ing")) else {
            return false;
        };
        let rest: Vec<&str> = rest.copied().collect();
        let idiom = format!("{gerund} {}", rest.first().unwrap_or(&""));
        let is_deed =
            is_form_of(DEEDS, gerund) || is_form_of(USES, gerund) || tools.is_verb(gerund);
        if !is_deed || is_in(IDIOMS, &idiom) || rest.iter().any(|word| is_in(VERBS, word)) {
            return false;
        }
        if lower.contains(',') && own == 0 && !is_waiting {
            return false;
        }
        let is_now = is_waiting || self.is_open || has_words(&lower, "now");
        let is_certain =
            is_now || own > 0 || tools.are_named(&lower) || has_words(&lower, "for you");
        let is_known =
            tools.is_verb(gerund) || is_form_of(UNDER_WAY, gerund) || idiom == "looking up";
        is_certain || (is_known && !self.is_title())
    }

    /// Whether it has capitals throughout: `Searching for Bobby Fischer`.
    fn is_title(&self) -> bool {
        let mut long = words(self.text)
            .skip(1)
            .filter(|word| word.chars().count() > 3)
            .peekable();
        long.peek().is_none() || long.all(|word| word.starts_with(char::is_uppercase))
    }
}

/// What is intended.
#[derive(Debug, PartialEq, Eq)]
enum Deed {
    Usual,
    /// What a tool has for its name.
    OfTool,
}

/// The names of tools.
struct Names<'t> {
    specs: &'t [ToolSpec],
    completing: &'t str,
}

impl<'t> Names<'t> {
    fn new(tooling: &'t Tooling) -> Self {
        Self {
            specs: &tooling.specs,
            completing: tooling.completion.tool_name(),
        }
    }

    /// Whether anything but the end can be called.
    fn is_any(&self) -> bool {
        self.specs.iter().any(|spec| spec.name != self.completing)
    }

    fn words(&self) -> impl Iterator<Item = String> {
        let names = self.specs.iter().map(|spec| spec.name.to_lowercase());
        names.flat_map(|name| {
            let words = name
                .split(|c: char| !c.is_alphanumeric())
                .map(str::to_owned);
            words.filter(|word| word.len() > 2).collect::<Vec<_>>()
        })
    }

    fn is_word(&self, word: &str) -> bool {
        self.words().any(|own| own == word)
    }

    fn is_verb(&self, word: &str) -> bool {
        self.words().any(|own| is_form_of(&own, word))
    }

    /// Whether a sentence names a tool. A name that is a common word has to be spoken of as a tool.
    fn are_named(&self, lower: &str) -> bool {
        let names = self.specs.iter().map(|spec| spec.name.to_lowercase());
        let is_plain = |name: &str| name.chars().all(char::is_alphabetic);
        names.into_iter().any(|name| match is_plain(&name) {
            true => is_spoken_of(lower, &name),
            false => has_words(lower, &name),
        }) || self.words().any(|word| {
            let kinds = [" tool", " function"];
            kinds
                .iter()
                .any(|kind| has_words(lower, &format!("{word}{kind}")))
        })
    }
}

/// Whether a word is used as the name of a tool.
fn is_spoken_of(lower: &str, name: &str) -> bool {
    let is_quoted = ["`", "\"", "'"]
        .iter()
        .any(|mark| lower.contains(&format!("{mark}{name}{mark}")));
    let uses = "use, using, call, calling, invoke, invoking, run, running, execute, executing";
    let articles = ["", "the ", "my ", "a "];
    let is_used = || {
        uses.split(", ").any(|verb| {
            let named = |article| format!("{verb} {article}{name}");
            articles
                .iter()
                .any(|article| has_words(lower, &named(article)))
        })
    };
    is_quoted || lower.contains(&format!("{name}(")) || is_used()
}

/// What follows the first of these words that begin a sentence, or a part of one.
fn after_lead<'a>(lower: &'a str, list: &str) -> Option<&'a str> {
    let found = list.split(", ").filter_map(|words| {
        let mut places = places_of(lower, words);
        let at = places.find(|at| is_lead(&lower[..*at]))?;
        Some((at, at + words.len()))
    });
    // The longest where several begin: `i am going to`, not the `i am` in it.
    let (_, end) = found.min_by_key(|(at, end)| (*at, lower.len() - end))?;
    Some(&lower[end..])
}

/// Whether it is `let me think about that`, `let's break it down` or `let's see`.
fn is_thinking(lower: &str, intended: &str) -> bool {
    let before = lower[..lower.len() - intended.len()].trim_end();
    let mut words = words(intended);
    let (first, next) = (words.next(), words.next());
    let is_seen = first == Some("see")
        && next.is_none_or(|next| is_in("what, if, how, whether, which, where", next));
    let is_let = before.ends_with("let me") || before.ends_with("let's");
    is_let && (is_seen || matches!(first, Some("think" | "break")))
}

/// Whether an intention may stand behind this: at the beginning, or after a comma.
fn is_lead(before: &str) -> bool {
    let mut before = before.trim_end();
    let mut is_lead = false;
    while let Some(shorter) = LEADS
        .split(", ")
        .find_map(|lead| without_last(before, lead))
    {
        before = shorter.trim_end();
        is_lead = true;
    }
    is_lead || before.is_empty() || before.ends_with([',', ';', '—', '–', '-', '(', '`'])
}

/// A text without these words at its end.
fn without_last<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let rest = text.strip_suffix(words)?;
    (!rest.ends_with(char::is_alphanumeric)).then_some(rest)
}

/// Whether a text ends with `= 5`.
fn is_equation(lower: &str) -> bool {
    let Some((_, value)) = lower.rsplit_once("= ") else {
        return false;
    };
    value.chars().any(|c| c.is_ascii_digit()) && !value.contains(char::is_alphabetic)
}

/// Whether a word is one of these verbs, or its form in `-ing`.
fn is_form_of(verbs: &str, word: &str) -> bool {
    let is_verb = |verb: &str| {
        let Some(stem) = word.strip_suffix("ing") else {
            return word == verb;
        };
        let is_doubled = || {
            let last = verb.chars().next_back();
            last.is_some_and(|last| stem.strip_suffix(last) == Some(verb))
        };
        word == verb || stem == verb || verb.strip_suffix('e') == Some(stem) || is_doubled()
    };
    verbs.split(", ").any(is_verb)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty())
}

fn starts_with(text: &str, words: &str) -> bool {
    let rest = text.strip_prefix(words);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
}

/// Whether words stand in a text, as whole words.
fn has_words(text: &str, words: &str) -> bool {
    places_of(text, words).next().is_some()
}

/// Where words stand in a text, as whole words.
fn places_of<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words)
        .map(|(at, _)| at)
        .filter(move |at| {
            let before = text[..*at].chars().next_back();
            let after = text[at + words.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}
