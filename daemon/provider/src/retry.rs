//! How long to wait before the same request is sent again.

use std::time::{Duration, SystemTime};

use paird_base::limits::{RETRY_DELAY_FIRST, RETRY_DELAY_MAX, RETRY_SPREAD_MAX};

/// The wait before try `attempt + 1`, counted from 0; `None` when no further try is made.
///
/// `jitter` is a random number of 0 to 1. Without a word from the provider the wait is anything up to a ceiling that
/// doubles with each try (full jitter). A wait the provider asks for is kept, and spread a little upwards.
#[must_use]
pub fn delay(attempt: u32, retry_after: Option<Duration>, jitter: f64) -> Option<Duration> {
    let ceiling =
        2u32.checked_pow(attempt).and_then(|factor| RETRY_DELAY_FIRST.checked_mul(factor)).filter(|ceiling| *ceiling <= RETRY_DELAY_MAX)?;
    let jitter = jitter.clamp(0.0, 1.0);
    match retry_after {
        Some(asked) if asked > RETRY_DELAY_MAX => None,
        Some(asked) => Some(asked + ceiling.min(RETRY_SPREAD_MAX).mul_f64(jitter)),
        None => Some(ceiling.mul_f64(jitter)),
    }
}

/// The wait that response headers ask for: `retry-after-ms`, else `Retry-After` in seconds or as an HTTP date.
pub(crate) fn asked_wait(header: impl Fn(&str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|value| seconds(&value, 1e-3)) {
        return Some(wait);
    }
    let value = header("retry-after")?;
    seconds(&value, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(value.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

fn seconds(value: &str, unit: f64) -> Option<Duration> {
    let number: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn ceilings_double_until_they_pass_a_minute() {
        let ceilings: Vec<f64> = (0..20).map_while(|attempt| delay(attempt, None, 1.0)).map(|wait| wait.as_secs_f64()).collect();
        assert_eq!(ceilings, [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(delay(u32::MAX, None, 0.0), None);
    }

    #[test]
    fn jitter_covers_the_whole_wait() {
        assert_eq!(delay(3, None, 0.0), Some(Duration::ZERO));
        assert_eq!(delay(3, None, 0.5), Some(Duration::from_millis(500)));
        assert_eq!(delay(3, None, f64::INFINITY), Some(secs(1)));
    }

    #[test]
    fn the_provider_s_wait_wins_and_is_spread_upwards() {
        assert_eq!(delay(0, Some(secs(7)), 0.0), Some(secs(7)));
        assert_eq!(delay(8, Some(secs(7)), 1.0), Some(secs(9)));
        assert_eq!(delay(0, Some(secs(60)), 0.0), Some(secs(60)));
        assert_eq!(delay(0, Some(secs(61)), 0.0), None);
        assert_eq!(delay(9, Some(secs(1)), 0.0), None, "tries are bounded whatever the provider says");
    }

    #[test]
    fn headers_that_ask_for_a_wait() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        type Case = (&'static [(&'static str, &'static str)], Option<Duration>);
        let cases: &[Case] = &[
            (&[], None),
            (&[("retry-after", "7")], Some(secs(7))),
            (&[("retry-after", " 1.5 ")], Some(Duration::from_millis(1500))),
            (&[("retry-after", "7"), ("retry-after-ms", "250")], Some(Duration::from_millis(250))),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT")], Some(secs(20))),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(Duration::ZERO)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "1e300")], None),
        ];
        for (headers, expected) in cases {
            let wait = asked_wait(|name| headers.iter().find(|header| header.0 == name).map(|header| header.1.to_owned()), now);
            assert_eq!(wait, *expected, "{headers:?}");
        }
    }
}
