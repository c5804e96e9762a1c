// Server-sent events, read with fetch because EventSource cannot send the session header.
// After a break the stream goes on after the last event that arrived.

import { operatorPath, sessionHeader } from "./api.js";

const retryMilliseconds = { first: 500, most: 5000 };
const silenceMilliseconds = 40_000; // Understudy writes a line at least each 15 s.

/**
 * Follows the event stream for as long as the page is open. After a refusal as well: another tab may sign the
 * browser in again. `onDisconnected` is told whether it was one.
 * @param {{
 *   onEvent(name: string, event: EventData): void, onReset(): void, onConnected(): void,
 *   onDisconnected(isSignedOut: boolean): void,
 * }} listener
 */
export function followEvents({ onEvent, onReset, onConnected, onDisconnected }) {
  let lastId = "";
  let wait = retryMilliseconds.first;

  const follow = async () => {
    const stop = new AbortController();
    let isSignedOut = false;
    try {
      const headers = sessionHeader();
      if (lastId) headers["Last-Event-ID"] = lastId;
      const { signal } = stop;
      const answer = await fetch(operatorPath("/events"), { headers, signal, cache: "no-store" });
      isSignedOut = answer.status === 401 || answer.status === 403;
      if (!answer.ok || !answer.body) throw new Error(`events: ${answer.status}`);
      wait = retryMilliseconds.first;
      onConnected();
      await readEvents(watched(answer.body.getReader(), stop), (event) => {
        if (event.id) lastId = event.id;
        if (event.name === "reset") onReset();
        else if (event.data) onEvent(event.name, JSON.parse(event.data));
      });
    } catch {
      // The next attempt shows whether the stream can be read again.
    }
    onDisconnected(isSignedOut);
    setTimeout(follow, wait);
    wait = Math.min(wait * 2, retryMilliseconds.most);
  };
  follow();
}

/** The reader of a stream that is stopped when nothing has come for too long. */
function watched(reader, stop) {
  let timer;
  return {
    async read() {
      timer = setTimeout(() => stop.abort(), silenceMilliseconds);
      try {
        return await reader.read();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Splits a byte stream into events: a blank line ends one, its lines are `field: value`. */
async function readEvents(reader, deliver) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      deliver(parseEvent(rest.slice(0, end)));
      rest = rest.slice(end + 2);
    }
  }
}

function parseEvent(block) {
  const event = { name: "message", id: "", data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "event") event.name = value;
    else if (field === "id") event.id = value;
    else if (field === "data") event.data += (event.data ? "\n" : "") + value;
  }
  return event;
}
