//! The current time.

use jiff::Zoned;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use enact_core::tool::{FnTool, ToolError};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// An IANA name such as `Europe/Paris`, or `UTC`; the local zone unless given.
    timezone: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Now {
    /// RFC 3339, to the second.
    time: String,
    weekday: String,
    timezone: String,
}

/// The tool `current_time`: date, time and weekday in a time zone.
pub fn current_time() -> FnTool {
    FnTool::new(
        "current_time",
        "Tells the current date, time and weekday, in a given time zone or the local one.",
        |args: Args, _context| {
            let zone = match args.timezone.as_deref().map(str::trim) {
                None | Some("") => Ok(TimeZone::system()),
                Some(name) => zone(name),
            };
            std::future::ready(zone.map(|zone| tell(&Zoned::now().with_time_zone(zone))))
        },
    )
    .built_in()
    .read_only()
    .volatile()
}

fn zone(name: &str) -> Result<TimeZone, ToolError> {
    TimeZone::get(name).map_err(|_| {
        let shown: String = name.chars().take(64).collect();
        ToolError::new(format!(
            "unknown time zone `{shown}`: use an IANA name such as `Europe/Paris`, or `UTC`"
        ))
    })
}

fn tell(now: &Zoned) -> Now {
    Now {
        time: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        weekday: now.strftime("%A").to_string(),
        timezone: now.time_zone().iana_name().unwrap_or("local").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use enact_core::tool::{Tool as _, ToolContext};

    #[test]
    fn a_moment_is_told_in_rfc_3339_with_its_weekday() {
        let noon: Zoned = "2025-07-14T12:00:00.5+02:00[Europe/Paris]".parse().unwrap();
        assert_eq!(
            serde_json::to_value(tell(&noon)).unwrap(),
            json!({
                "time": "2025-07-14T12:00:00+02:00",
                "weekday": "Monday",
                "timezone": "Europe/Paris",
            })
        );
    }

    #[tokio::test]
    async fn zones_are_looked_up_by_name() {
        let tool = current_time();
        let call = |args| tool.call(args, ToolContext::detached("c"));
        for args in [
            enact_core::values! {},
            enact_core::values! { timezone: (serde_json::Value::Null) },
            enact_core::values! { timezone: "UTC" },
        ] {
            let now = call(args).await.unwrap();
            let time = now.value["time"].as_str().unwrap();
            assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        }
        assert_eq!(
            call(enact_core::values! { timezone: "Mars/Olympus" })
                .await
                .unwrap_err(),
            ToolError::new(
                "unknown time zone `Mars/Olympus`: use an IANA name such as `Europe/Paris`, or `UTC`"
            )
        );
    }
}
