import {
  type DestinationStream,
  type Level,
  type Logger,
  destination as openDestination,
  pino,
  stdTimeFunctions,
} from 'pino'
import { styleText } from 'node:util'
import { parseJson } from '../json/parse.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Scope } from '../spec/scope.ts'
import { Secrets } from '../secrets/redaction.ts'

export interface LogOptions {
  readonly level: Level | 'silent'
  /** Whether the level stays what it is (`setLevel`). */
  readonly fixed?: boolean
  /** Where lines go; default: standard error, through a bounded buffer. Standard output is for results. */
  readonly destination?: DestinationStream
  /** Secrets to redact; the registry may grow while the log is in use. */
  readonly secrets?: Secrets
  /** Whether to print readable text for a terminal: the message, then its fields. */
  readonly text?: boolean
}

/**
 * Maximum bytes waiting for a slow reader of standard error; beyond it, lines are dropped instead of delaying requests.
 */
const BUFFER = 4 * 1024 * 1024

type Traced = Pick<Scope, 'id' | 'trace' | 'told'>

/** The exchanges under way that have a trace context, or may get one, by id. */
const traces = new Map<string, Traced>()

/** Lets lines about an exchange, which have its `id`, say `trace_id` and `span_id`, until `untraced`. */
export function traced(scope: Traced): void {
  // Whoever is told of an exchange may give it a trace context late.
  if (scope.trace !== undefined || scope.told !== undefined) traces.set(scope.id, scope)
}

export function untraced(scope: Traced): void {
  // A job has the id of the request that began it, and may have begun already.
  if (traces.get(scope.id) === scope) traces.delete(scope.id)
}

function traceOf(line: { readonly id?: unknown } | null): object {
  const trace = typeof line?.id === 'string' ? traces.get(line.id)?.trace : undefined
  if (trace === undefined) return {}
  const [, trace_id, span_id] = trace.traceparent.split('-')
  return { trace_id, span_id }
}

/** The log of the process: one JSON object or text per line, with every secret redacted in names, fields and texts. */
export function makeLog({
  level,
  fixed = false,
  destination,
  secrets = new Secrets(),
  text = false,
}: LogOptions): Logger {
  const print = text ? readable : JSON.stringify
  const made = new Set<WeakRef<Logger>>()
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      mixin: traceOf,
      formatters: { level: (label) => ({ level: label }) },
      // Everything passes here as a finished line: bindings, errors with their causes, and messages.
      hooks: { streamWrite: (line) => `${print(secrets.redact(parseJson(line)))}\n` },
      onChild: (child) => void made.add(new WeakRef(child)),
    },
    destination ?? openDestination({ dest: 2, sync: false, maxLength: BUFFER }),
  )
  if (fixed) fixedLogs.add(log)
  children.set(log, made)
  return log
}

/** The child loggers of stages, providers and services, by parent. Each child has a level of its own. */
const children = new WeakMap<Logger, Set<WeakRef<Logger>>>()

const fixedLogs = new WeakSet<Logger>()

/** Sets the minimum level of a logger and of all its children, unless it is fixed. */
export function setLevel(log: Logger, level: LogOptions['level']): void {
  if (fixedLogs.has(log)) return
  log.level = level
  const made = children.get(log) ?? new Set()
  for (const one of made) {
    const child = one.deref()
    if (child) child.level = level
    else made.delete(one)
  }
}

const colours = new Map<unknown, 'red' | 'yellow'>([
  ['warn', 'yellow'],
  ['error', 'red'],
  ['fatal', 'red'],
])

/** A log line as text: the message, its cause and its fields. A finding is printed like `sluice check` prints it. */
function readable(line: Json): string {
  const { level, msg, err, time: _, pid: __, ...facts } = line as JsonObject
  const cause = isObject(err) ? (err['stack'] ?? err['message']) : undefined
  const said = [msg, cause].filter((part) => typeof part === 'string').join(': ')
  const told = Object.entries(facts).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  // Text from outside must not move the cursor or change colours.
  const text = [said, ...told].join(' ').replace(/[^\n\x20-\x7e\xa0-\uffff]/g, '?')
  const colour = colours.get(level)
  return colour === undefined ? text : styleText(colour, text, { stream: process.stderr })
}
