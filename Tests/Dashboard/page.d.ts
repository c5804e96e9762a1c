// Types that the JSDoc of Public names, and what the browser has that this compiler does not know. The types
// of requests and answers are made from openapi.json by operator_types.py.

/** What follows the path of a call. A path that openapi.json does not have, asks for what cannot be given. */
type Rest<Answer, Arguments extends any[]> = [Answer] extends [never] ? [noSuchPath: never] : Arguments;

/** Calls of the operator API; the path decides the type of the body and of the answer. */
interface OperatorAPI {
  get<Path extends string>(path: Path, ...rest: Rest<AnswerOfGet<Path>, []>): Promise<AnswerOfGet<Path>>;
  post<Path extends string>(
    path: Path,
    ...rest: Rest<AnswerOfPost<Path>, [body?: BodyOfPost<Path>]>
  ): Promise<AnswerOfPost<Path>>;
  patch<Path extends string>(
    path: Path,
    ...rest: Rest<AnswerOfPatch<Path>, [body: BodyOfPatch<Path>]>
  ): Promise<AnswerOfPatch<Path>>;
  remove<Path extends string>(
    path: Path,
    ...rest: Rest<AnswerOfDelete<Path>, []>
  ): Promise<AnswerOfDelete<Path>>;
}

/** What an address asks for (app.js). */
interface Route {
  name: string;
  rest: string[];
  parameters: URLSearchParams;
}

/** What a view gives to app.js; `keys` maps a key to its action, which gives false where it did nothing. */
interface View {
  refresh(): void;
  keys?: Record<string, () => unknown>;
  navigate?(route: Route): void;
  onEvent(kind: string, event: EventData): void;
  onLeave?(): void;
}
type ViewMaker = (main: HTMLElement, asked: Route, header: Connection) => View;

/** Whether events arrive, and where not, whether this browser is no longer signed in (shared/events.js). */
type PageLink = "connected" | "disconnected" | "signedOut";

/** The line at the top (shared/connection.js). */
interface Connection {
  status(): Status | null;
  isRunning(): boolean;
  listen(listen: (status: Status) => void): () => unknown;
  load(): Promise<void>;
  refresh(): void;
  toggleMode(): Promise<void>;
  sync(): Promise<void>;
  /** Operations of a list were retried: what becomes of them is said once. */
  retried(ids: string[], filter: QueueFilter): void;
  setFollowing(now: PageLink): void;
  onEvent(kind: string): void;
}

/** A table that the backend fails for (shared/connection-state.js). */
interface FailingTable {
  name: string;
  kind: "push" | "pull";
  wait: TableWait;
}

/** What the rate of a run is measured from: a phase, and in a pull a table (shared/runs.js). */
interface Stage {
  name: string;
  points: { at: number; done: number }[];
}
type FollowedRun = Run & { stage: Stage | null };

/**
 * What a message offers to do; the key `u` runs one that undoes something. Its `run` gives null, or a promise
 * of it, where it did not work (shared/messages.js).
 */
interface Action {
  label: string;
  run(): unknown;
  isUndo?: true;
  /** Nothing of what it undoes is sent while it is on screen. */
  isHeld?: true;
}

/** What the address of the queue asks for (queue/state.js). */
interface QueueFilter {
  id: string | null;
  state: string;
  table: string;
  q: string;
  reason: string;
  status: string;
  attempts: string;
  age: string;
  sort: string;
}

/** An operation and its place in the whole list, from 1 (queue/queue.js). */
interface ListPlace {
  id: string;
  at: number;
}

type OperationAction = "retry" | "discard";
type ConflictChoice = Resolve["choice"];

/** Which conflicts are shown; the age is in seconds, as text (conflicts/state.js). */
interface ConflictFilter {
  table: string;
  q: string;
  column: string;
  actor: string;
  age: string;
}

/** What the conflicts view knows (conflicts/state.js). */
interface ConflictsState {
  filter: ConflictFilter;
  picked: Set<string>;
  list: ConflictDetail[];
  total: number;
  index: number;
  wanted: string | null;
}

/** What a person made of a field of a conflict (conflicts/field.js); `side` is null for a typed value. */
interface TypedField {
  text: string;
  side: "mine" | "server" | null;
  /** The values of both sides when it was typed, as text. */
  began: string;
}

/** The card of a conflict (conflicts/card.js). */
interface ConflictCard {
  conflict: ConflictDetail;
  element: HTMLElement;
  choose(choice: ConflictChoice): boolean | void;
  focusField(name: string): void;
}

/** One of the parts of the history: its changes, or the runs (history/history.js). */
type HistoryPart = (place: HTMLElement, asked: Route, header: Connection) => {
  refresh(): void;
  navigate(route: Route): void;
  onEvent(kind: string): void;
  onLeave?(): void;
};

/** What the address of the history asks for (history/state.js). */
interface HistoryFilter {
  q: string;
  when: string;
  kind: string;
  by: string;
  table: string;
}

/** What the history view knows: `period` is what the words of the filter were taken for (history/state.js). */
interface HistoryState {
  entries: HistoryEntry[];
  next: string | null;
  total: number;
  filter: HistoryFilter;
  period: string;
  refusal: string;
  seen: number;
  newest: number;
}

/** What the address of the tables view asks for (tables/state.js). */
interface TableQuestion {
  table: string;
  filter: string;
  orderby: string;
  deleted: string;
  id: string;
}

/** A table and its columns that are shown as todos (todos/source.js). */
interface TodoSource {
  table: string;
  text: string;
  done: string | null;
}
interface KnownTable {
  name: string;
  rows: number;
}

/** What the address of the todos asks for (todos/list-state.js). */
interface TodoQuestion {
  show: string;
  sort: string;
  q: string;
}

/** What a long list is made with (shared/longlist.js): `keyOf` names a row, `rowPixels` is its likely height. */
interface LongListParts {
  load(skip: number, top: number): Promise<{ items: any[]; total: number }>;
  keyOf(model: any): string;
  makeRow(model: any): ListedRow;
  onLoad(models: any[], total: number): void;
  onError(problem: Error): void;
  rowPixels?: number;
}

/** A row of a long list. One that is edited stays in the page; `onMissing` tells it where it is not. */
interface ListedRow {
  element: HTMLElement;
  update(model: any): void;
  isEdited?(): boolean;
  onMissing?(): void;
  leave?(): void;
}

/** A text as a row has it, and the version of that row. */
interface StoredText {
  text: string;
  version: string | null;
}

/** What an edit replaces, and what it asks of its fields (shared/edit.js). */
interface Begun {
  version: any;
}
interface EditParts<State> {
  typed(began: State): object | null;
  nowOf(problem: any): State | null | Promise<State | null>;
  isSame(now: State, began: State): boolean;
}

/** What the field of a text asks of its row (todos/edit.js). */
interface TextEditParts {
  name: string;
  label: string;
  storedOf(item: Item): StoredText;
  store(text: string, version: string | null): Promise<Item>;
  add(text: string): Promise<Item>;
  move(item: Item): boolean;
  end(hadFocus: boolean, item: Item | null): void;
}
interface TextEdit {
  element: HTMLElement;
  focus(): void;
  select(): void;
  update(now: StoredText): void;
  rename(name: string): void;
  miss(isThere: boolean): void;
  leave(): void;
}

/** Set by shared/theme.js, which is not a module. */
declare var understudyTheme: {
  read(): string;
  set(name: string): void;
  next(): string;
};

interface JSON {
  rawJSON?(text: string): unknown;
  isRawJSON?(value: unknown): boolean;
}
interface Array<T> {
  toSorted(compare: (one: T, other: T) => number): T[];
  toReversed(): T[];
}
interface ParentNode {
  moveBefore?(element: Node, before: Node | null): void;
}

/** A step of time in the overview (overview/state.js); times in milliseconds since 1970. */
interface OverviewStep {
  at: number;
  until: number;
  /** How many minutes of it are over. */
  minutes: number;
  /** Null where Understudy did not run. */
  sample: Sample | null;
}

/** Runs that are too close for dots of their own. */
interface RunPlace {
  share: number;
  run: Run;
  count: number;
}

/** A name and a value below the title of a plot; `kind` is the class of its colour. */
interface PlotValue {
  name: string;
  text: string;
  kind?: string;
}

/** What a plot is made with (overview/plot.js). `top` is null where it has no axis of values. */
interface PlotParts {
  title: string;
  unit: string | null;
  height: number;
  top: ((steps: OverviewStep[]) => number) | null;
  marks(steps: OverviewStep[], frame: any): SVGElement[];
  values(step: OverviewStep): PlotValue[];
  onPoint(index: number | null): void;
  timeOf(step: OverviewStep): string;
}

/** What a column holds (tables/row-values.js). */
type ValueKind = "text" | "number" | "boolean" | "time" | "day" | "json";

/** The rows on screen, which give the kinds of columns, and the columns shown (tables/rendering.js). */
interface RowColumns {
  items: Item[];
  shown: string[];
}
