//! Telemetry: traces for a collector, and a log on standard error. Both are off unless the
//! environment turns them on.

use std::env;
use std::fmt;
use std::io::Write as _;

use enact::telemetry::{OPERATION, TARGET};
use enact_otel::{Guard, Traces};
use tracing::field::Field;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{FmtSpan, Writer, debug_fn};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::view::text;

/// Sends the remaining spans at the end.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    traces: Option<Guard>,
}

impl Telemetry {
    /// Starts what the environment configures. Errors are reported, and don't stop the command.
    pub(crate) fn start() -> Self {
        let (mut layers, mut traces) = (Vec::new(), None);
        if Traces::is_wanted() {
            match Traces::from_env().service_name("enact").layer() {
                Ok((layer, guard)) => {
                    layers.push(layer.boxed());
                    traces = Some(guard);
                }
                Err(error) => warn(&error),
            }
        }
        match log_filter() {
            Ok(Some(filter)) => layers.push(log(filter)),
            Ok(None) => {}
            Err(error) => warn(&error),
        }
        if !layers.is_empty() {
            // No other subscriber has been set.
            let _ = tracing::subscriber::set_global_default(Registry::default().with(layers));
        }
        Self { traces }
    }

    /// Sends the remaining spans, and reports a failure.
    pub(crate) fn finish(self) {
        if let Some(Err(problem)) = self.traces.map(Guard::finish) {
            warn(&problem);
        }
    }
}

fn warn(problem: &dyn fmt::Display) {
    let line = text::one_line(&problem.to_string());
    let _ = writeln!(std::io::stderr(), "warning: {line}");
}

/// What is logged: nothing by default, and never the events of other libraries, because they may
/// contain what was sent.
fn log_filter() -> Result<Option<Targets>, String> {
    for name in ["ENACT_LOG", "RUST_LOG"] {
        let Some(directives) = env::var(name).ok().filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        let wanted: Targets = directives
            .parse()
            .map_err(|_| format!("{name} is not a level such as `info`: nothing is logged"))?;
        let level = wanted.default_level().unwrap_or(LevelFilter::OFF);
        let ours = wanted
            .iter()
            .find(|(target, _)| *target == TARGET)
            .map_or(level, |(_, level)| level);
        return Ok((ours > LevelFilter::OFF).then(|| Targets::new().with_target(TARGET, ours)));
    }
    Ok(None)
}

/// Logs a line for each span that ends.
fn log(filter: Targets) -> Box<dyn Layer<Registry> + Send + Sync> {
    tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .fmt_fields(debug_fn(field))
        .event_format(Line)
        .with_filter(filter)
        .boxed()
}

/// Time, level, and the fields of the span itself: its parents have lines of their own.
struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        SystemTime.format_time(&mut writer)?;
        write!(writer, " {}", event.metadata().level())?;
        if let Some(span) = context.parent_span() {
            write!(writer, " {} ", span.name())?;
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                // The initial fields, and those recorded later.
                writer.write_str(&fields.replace("  ", " "))?;
            }
        }
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Writes a field of a span. Content is for collectors, not for logs.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let name = field.name();
    let is_content = enact::telemetry::CONTENT.contains(&name);
    // The span's name and its end are already on the line.
    let is_known = name.starts_with("otel.") || [OPERATION, "message"].contains(&name);
    if is_content || is_known {
        return Ok(());
    }
    write!(writer, "{name}={value:?} ")
}
