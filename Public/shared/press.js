// Whether a pointer or a key is pressed. Answers wait for its release before anything is drawn from them: a
// browser gives no click where what was pressed has been replaced or has moved before the release.

const clickingKeys = [" ", "Enter"];

let isPressed = false;
/** @type {(() => void)[]} */
let waiting = [];

function press() {
  isPressed = true;
}

/** The click follows the release at once, so that what waits goes on after it. */
function release() {
  if (!isPressed) return;
  isPressed = false;
  setTimeout(() => {
    if (isPressed) return;
    for (const goOn of waiting.splice(0)) goOn();
  });
}

const all = { capture: true, passive: true };
addEventListener("pointerdown", press, all);
addEventListener("keydown", (event) => clickingKeys.includes(event.key) && press(), all);
addEventListener("keyup", (event) => clickingKeys.includes(event.key) && release(), all);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, all);
// What was pressed here may be released where this page is not told of it.
addEventListener("pointermove", (event) => event.buttons === 0 && release(), all);
addEventListener("blur", (event) => event.target === window && release(), all);

/** Waits until nothing is pressed. */
export async function untilReleased() {
  while (isPressed) await new Promise((goOn) => waiting.push(() => goOn(null)));
}
