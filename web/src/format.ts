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
  time_share: Share;
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
  line: string;
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
  routes: Route[];
  sql: Statement[];
  findings: Finding[];
  failures: Failure[];
  host: { cores: number; same_host: boolean };
  how_sure: { about: string; says: string }[];
  troubles: { what: string; remedy: string }[];
}

export type Document = Run;
