// What Hakaru embeds in the page, key by key: docs/json.md says what each means.

export type Milliseconds = number;
export type Share = number;

export interface Latency {
  p50: Milliseconds | null;
  p90: Milliseconds | null;
  p95: Milliseconds | null;
  p99: Milliseconds | null;
  max: Milliseconds | null;
}

export interface CurvePoint {
  share: Share;
  latency_ms: Milliseconds;
  service_ms: Milliseconds | null;
}

export interface Second {
  at_s: number;
  answered: number;
  errors: number;
  checks_failed: number;
  latency_ms: Latency;
  threads_busy: number | null;
  backlog: number | null;
  cpu_busy_cores: number | null;
  cpu_steal_cores: number | null;
  processes: ProcessSecond[];
}

export interface ProcessSecond {
  pid: number;
  cpu_cores: number;
  rss_bytes: number;
  pss_bytes: number | null;
  gc_major: number | null;
  gc_share: Share | null;
}

export type Role = "app" | "database" | "generator";

export interface Process {
  pid: number;
  role: Role;
}

export type Term =
  | "queue"
  | "gvl_wait"
  | "gc"
  | "sql"
  | "http"
  | "lock"
  | "sleep"
  | "other_io"
  | "cpu"
  | "cpu_wait"
  | "respond"
  | "unaccounted";

export type Balance = Record<Term | "receive", Milliseconds>;

export interface Route {
  route: string;
  requests: number;
  errors: number;
  unanswered: number;
  checks_failed: number;
  unseen: number;
  rps: number | null;
  time_share: Share;
  thread_ms: Milliseconds | null;
  thread_share: Share | null;
  latency_ms: Latency;
  balance_ms: Balance | null;
}

export interface Statement {
  digest: string;
  count: number;
  time_ms: Milliseconds;
  rows: number;
  routes: { route: string; per_request: number }[];
  called_from: string[];
}

export type Safety = "safe" | "careful" | "code" | "none";
export type Confidence = "low" | "medium" | "high";

export interface Finding {
  number: number | null;
  id: string;
  route: string | null;
  title: string;
  why: string;
  evidence: string[];
  remedy: { text: string; exact: string | null; safety: Safety };
  estimated_gain: string;
  gain_share: Share;
  confidence: Confidence;
}

export interface Failure {
  outcome: string;
  line?: string;
  place: string;
  reason: string;
  request: string;
  response: string;
  count: number;
}

export interface Run {
  format: "hakaru-run";
  version: number;
  number: number | null;
  started_at_unix_ms: number;
  ended_early: string | null;
  revision: { commit: string | null; dirty: string | null } | null;
  target: {
    command: string | null;
    url: string;
    ruby: string | null;
    server: string | null;
    workers: number | null;
    threads: number | null;
    database: string | null;
  };
  load: {
    mode: "closed" | "open";
    connections: number;
    rate: number | null;
    duration_s: number;
  };
  score: number | null;
  requests: number;
  errors: number;
  unanswered: number;
  checks_failed: number;
  rps: number | null;
  latency_ms: Latency;
  service_ms: Latency;
  late_ms: Pick<Latency, "p50" | "p99" | "max">;
  verdict: { time: string; failed: string | null; fix_first: string };
  latency_curve: CurvePoint[];
  seconds: Second[];
  processes: Process[];
  balance_ms: Balance | null;
  routes: Route[];
  sql: Statement[];
  findings: Finding[];
  failures: Failure[];
  host: { cores: number; same_host: boolean };
  how_sure: { about: string; says: string }[];
  troubles: { what: string; remedy: string }[];
  profile: RunProfile | null;
  hosts?: Collect | null;
}

/** What several hosts recorded of the same time. */
export interface Collect {
  format: "hakaru-collect";
  version: number;
  seconds: number;
  notes: { kind: string; text: string }[];
  hosts: Host[];
  balance: HostBalance | null;
  routes: LogRoute[];
  statements: LogStatement[];
}

export interface HostBalance {
  requests: number;
  mean_s: number;
  layers: HostLayer[];
}

export interface HostLayer {
  kind: "outside" | "proxy" | "app" | "between" | "database";
  text: string;
  mean_s: number;
  /** Of an app with agents: the same seconds by its own terms. */
  terms_s?: HostTerms | null;
}

/** Terms of an app's time as its agents name them; `running` is with Ruby's lock, on a core or waiting for one. */
export type HostTerm = Exclude<Term, "cpu" | "cpu_wait" | "respond"> | "running";
export type HostTerms = Partial<Record<HostTerm, number>>;

export interface Host {
  name: string;
  roles: string[];
  /** Why what was recorded is not all. */
  error: string | null;
  cores?: number;
  core_limit?: number | null;
  usage?: HostUsage | null;
  clock?: { offset_s: number; bound_s: number; steady: boolean } | null;
  logs?: { path: string; bytes: number; truncations: number; error: string | null }[];
  database?: HostDatabase | null;
  inside?: HostInside | null;
  units?: HostUnit[];
  requests_by_second?: number[] | null;
}

export interface HostUsage {
  cpu_cores: number;
  cpu_cores_max: number;
  memory_available_min_bytes: number;
  received_bytes: number;
  sent_bytes: number;
  disk_read_bytes: number;
  disk_written_bytes: number;
  processes: { name: string; count: number; cpu_cores: number }[];
}

export interface HostDatabase {
  error: string | null;
  notes: string[];
  statements: { digest: string; calls: number; time_s: number; rows_examined: number; rows_sent: number }[];
}

/** What agents recorded inside of an app. */
export interface HostInside {
  error: string | null;
  notes: string[];
  server: string;
  processes: number;
  requests: number;
  dropped: number;
  routes: InsideRoute[];
  statements: InsideStatement[];
}

export interface InsideRoute {
  route: string;
  requests: number;
  failed: number;
  time_s: number;
  waited_s: number;
  states_s: HostTerms;
}

export interface InsideStatement {
  digest: string;
  site: string;
  calls: number;
  rows: number;
  time_s: number;
}

export interface HostUnit {
  unit: string;
  error: string | null;
  entries: number;
  warnings: number;
  errors: number;
  messages: { at_s: number | null; count: number; message: string }[];
}

export interface LogTimes {
  count: number;
  sum_s: number;
  mean_s: number | null;
  p50_s: number | null;
  p95_s: number | null;
  max_s: number | null;
}

export interface LogRoute {
  route: string;
  requests: number;
  time: LogTimes;
  upstream: LogTimes;
}

export interface LogStatement {
  digest: string;
  time: LogTimes;
  rows_examined: number;
}

export type State = "running" | "gvl_wait" | "gc" | "sql" | "http" | "lock" | "pool" | "sleep" | "other_io";
export type IndexIntoFrames = number;
export type IndexIntoStates = number;
export type IndexIntoNodes = number;

/** Nodes in depth-first order, heavier siblings first; node 0 is the root. */
export interface FlameGraph {
  name: string;
  requests: number | null;
  depth: number[];
  frame: IndexIntoFrames[];
  /** Node, state, weight, and so on: what a node holds without those below it. */
  own: number[];
  /** Of the earlier of two profiles, likewise. */
  before?: number[];
  /** One thread's stacks in the order of time: nodes with the earliest first, as far as there was room for them. */
  time?: { thread: string; duration_us: number; depth: number[]; frame: IndexIntoFrames[]; own: number[] };
  /** Bytes of each entry in `own`, in profiles of objects. */
  bytes?: number[];
}

/** Method, file, line of the definition, whose code. */
export type FlameFrame = [name: string, file: string, line: number, origin: number];

export interface Flame {
  unit: "us" | "objects" | "samples";
  states: State[];
  origins: string[];
  frames: FlameFrame[];
  graphs: FlameGraph[];
}

export interface Sampling {
  samples: number;
  interval_us: number;
  cost: { cpu_share: Share; dropped: number };
  notes: string[];
  runtime: Record<string, number>;
}

/** A slow request; milliseconds since it was due. */
export interface Exemplar {
  route: string;
  line: string;
  status: number;
  pid: number;
  sent_ms: Milliseconds;
  start_ms: Milliseconds;
  end_ms: Milliseconds;
  answered_ms: Milliseconds;
  parts: [State, Milliseconds][];
  bursts: [State, Milliseconds][];
  sql: { digest: string; site: string; count: number; time_ms: Milliseconds }[];
  /** State, start, length, stack with the outermost frame first. */
  samples: [IndexIntoStates, Milliseconds, Milliseconds, IndexIntoFrames[]][];
}

export interface RunProfile extends Sampling {
  exemplars: Exemplar[];
  flame: Flame;
}

export interface ProfileHead extends Sampling {
  command: string;
  mode: string;
  duration_s: number;
  threads: number;
}

export interface Profile extends ProfileHead {
  format: "hakaru-profile";
  version: number;
  number: number | null;
  counted: {
    method: string;
    calls: number;
    repeats: number;
    missed: number;
    callers: { caller: string; calls: number; repeats: number }[];
  } | null;
  flame: Flame;
}

export interface ProfileDiff {
  format: "hakaru-profile-diff";
  version: number;
  before: ProfileHead;
  after: ProfileHead;
  changes: {
    frame: string;
    file: string;
    line: number;
    before: { share: Share; self_share: Share };
    after: { share: Share; self_share: Share };
    change: Share;
    low: Share;
    high: Share;
    sure: boolean;
  }[];
  flame: Flame;
}

export interface SweepStep {
  connections: number;
  run: number | null;
  rps: number | null;
  latency_ms: Pick<Latency, "p50" | "p95" | "p99">;
  failed: number;
  cores: { app: number | null; database: number | null; generator: number | null };
  memory_bytes: number | null;
}

export interface Sweep {
  format: "hakaru-sweep";
  version: number;
  command: string;
  verdict: string;
  ended: "complete" | "saturated" | "interrupted";
  knee_connections: number | null;
  steps: SweepStep[];
}

/** What was tried after a run, and its result. */
export interface Trial {
  finding: string | null;
  remedy: string;
  kept: boolean;
  decision: string;
  verdict: string;
}

export interface LoggedRun {
  number: number;
  started_at_unix_ms: number;
  complete: boolean;
  part_of: string | null;
  commit: string | null;
  dirty: string | null;
  score: number | null;
  rps: number | null;
  latency_ms: Pick<Latency, "p50" | "p95" | "p99">;
  errors: number;
  checks_failed: number;
  changes: string[];
  against: number | null;
  change_share: Share | null;
  noise_share: Share | null;
  notes: string[];
  trials: Trial[];
}

export interface Log {
  format: "hakaru-log";
  version: number;
  runs: LoggedRun[];
}

export type Claim = "faster" | "slower" | "less" | "more" | "same" | "unclear";

export type Decision = "faster" | "slower" | "mixed" | "cheaper" | "costlier" | "same" | "unclear" | "failed";

export interface Variant {
  name: string;
  start_s: number | null;
  warmup_s: number | null;
  requests: number;
  failed: number;
  memory_bytes: number | null;
}

export interface CompareRow {
  metric: string;
  a: number;
  b: number;
  ratio: number;
  low: number | null;
  high: number | null;
  noise: Share | null;
  verdict: Claim;
}

export interface ComparePoint {
  share: Share;
  a_ms: Milliseconds | null;
  b_ms: Milliseconds | null;
}

export interface Compare {
  format: "hakaru-compare";
  version: number;
  started_at_unix_ms: number;
  a: Variant;
  b: Variant;
  is_noise: boolean;
  load: string;
  rows: CompareRow[];
  blocks: number;
  redone: number;
  disturbed: number;
  noise_floor: Share | null;
  decision: Decision;
  verdict: string;
  measuring_s: number;
  latency_curve: ComparePoint[];
  notes: string[];
  tried: { run: number; number: number; title: string; remedy: string; afterwards: string } | null;
}

export interface LoadTimes {
  count: number;
  mean: Milliseconds | null;
  p50: Milliseconds | null;
  p90: Milliseconds | null;
  p95: Milliseconds | null;
  p99: Milliseconds | null;
  "p99.9": Milliseconds | null;
  max: Milliseconds | null;
}

export interface LoadSecond {
  at_s: number;
  rps: number;
  failed: number;
  p50_ms: Milliseconds | null;
  p90_ms: Milliseconds | null;
  p99_ms: Milliseconds | null;
  generator_cores: number;
}

/** Requests whose latency lies between two bounds. */
export interface LatencyClass {
  from_ms: Milliseconds;
  to_ms: Milliseconds;
  count: number;
}

export interface Load {
  format: "hakaru-load";
  version: number;
  /** Missing in documents of older programs, as are the other optional keys. */
  hakaru?: string;
  started_at_unix_ms?: number;
  url: string;
  load: { pace: string; connections: number };
  stopped: boolean;
  seconds: number;
  requests: number;
  rps: number;
  failed: number;
  errors: Record<string, number>;
  statuses: Record<string, number>;
  latency_ms: LoadTimes;
  sent_latency_ms: LoadTimes;
  latency_curve?: { share: Share; latency_ms: Milliseconds; sent_latency_ms: Milliseconds | null }[];
  latency_classes?: LatencyClass[];
  connect_ms: LoadTimes;
  tls_handshake_ms: LoadTimes;
  generator: { engine: string; threads: number; cpu_share: Share; lateness_ms: LoadTimes; unsent: number };
  expectations: Expectation[];
  doubts: string[];
  steps: { line: string; place: string; requests: number; failed: number; latency_ms: LoadTimes }[];
  failures: Failure[];
  series: LoadSecond[];
}

/** An expectation of a load; `needs_requests` stands where there were too few requests to judge it. */
export interface Expectation {
  expected: string;
  came: string | null;
  held: boolean;
  needs_requests?: number;
}

export type Document = Load | Run | Sweep | Log | Compare | Profile | ProfileDiff | Collect;
