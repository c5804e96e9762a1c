// Numbers, times and days as the reader's language writes them.

const locale = [...navigator.languages];
const whole = new Intl.NumberFormat(locale);
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 0 });
const seconds = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const minutes = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const daySeconds = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const dayOnly = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const weekdays = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** A count with its groups of digits; a missing one is 0. */
export const number = (value) => whole.format(value ?? 0);

export const shortNumber = (value) => compact.format(value);

export const milliseconds = (value) => `${number(value)} ms`;

/** How long something took: "850 ms", "12.4 s", "3 min 5 s". */
export function length(value) {
  if (value < 1000) return milliseconds(value);
  if (value < 60_000) return `${tenths.format(value / 1000)} s`;
  return `${number(Math.floor(value / 60_000))} min ${Math.floor((value % 60_000) / 1000)} s`;
}

/** A day of the week with its date, short. */
export const weekday = (at) => weekdays.format(new Date(at));

export const clockTime = (text) => minutes.format(new Date(text));

/** A time of day when it is today, else with its date; a missing one is empty. */
export function time(text) {
  if (!text) return "";
  const at = new Date(text);
  return (at.toDateString() === new Date().toDateString() ? seconds : daySeconds).format(at);
}

/** A day without its time. A text that is no date is shown as it is. */
export function day(text) {
  // A date without a time is the same day in every time zone.
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(at.getTime()) ? String(text) : dayOnly.format(at);
}

/** "in 12 seconds", "3 minutes ago"; a missing time is empty. */
export function distance(text, now = Date.now()) {
  if (!text) return "";
  const away = Math.round((new Date(text).getTime() - now) / 1000);
  const size = Math.abs(away);
  if (size < 60) return relative.format(away, "second");
  if (size < 3600) return relative.format(Math.round(away / 60), "minute");
  if (size < 86400) return relative.format(Math.round(away / 3600), "hour");
  return relative.format(Math.round(away / 86400), "day");
}

/** A time with its distance: "14:03:10 (3 minutes ago)"; a missing one is empty. */
export const timeAndDistance = (text) => (text ? `${time(text)} (${distance(text)})` : "");

/** A text in one line, with a sign at the end of each of its lines. */
export const oneLine = (text) => text.replace(/\r\n|[\r\n]/g, " ↵ ");

/** The beginning of a text that is longer than `most` letters. */
export const shortened = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

export const plural = (count, one, many) => (count === 1 ? one : many.replace("#", number(count)));

/**
 * A text of a row in a visible sentence. The signs around it (U+2068, U+2069) isolate it, so that its writing
 * direction does not change the order of the sentence.
 */
export const quoted = (text) => `“\u2068${text}\u2069”`;
