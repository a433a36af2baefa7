import {
  type DestinationStream,
  type Level,
  type Logger,
  destination as openDestination,
  pino,
  stdTimeFunctions,
} from 'pino'
import { styleText } from 'node:util'
import { parseJson } from './json/parse.ts'
import { isObject } from './spec/json.ts'
import type { Json, JsonObject } from './spec/json.ts'
import { Secrets } from './store/redaction.ts'

export interface LogOptions {
  readonly level: Level | 'silent'
  /** Where lines go; default: standard error, through a bounded buffer. Standard output is for results. */
  readonly destination?: DestinationStream
  /** What no line may show; the registry grows while the log is in use. */
  readonly secrets?: Secrets
  /** Lines for a person at a terminal: what is said, then its facts. */
  readonly text?: boolean
}

/** Bytes that wait for a slow reader of standard error; beyond, lines are lost rather than requests delayed. */
const BUFFER = 4 * 1024 * 1024

/** The log of the process: one JSON object or text per line, with every secret hidden in names, fields and texts. */
export function makeLog({ level, destination, secrets = new Secrets(), text = false }: LogOptions): Logger {
  const print = text ? readable : JSON.stringify
  const made = new Set<WeakRef<Logger>>()
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The finished line is the one place that everything passes: bindings, errors and their causes, messages.
      hooks: { streamWrite: (line) => `${print(secrets.redact(parseJson(line)))}\n` },
      onChild: (child) => void made.add(new WeakRef(child)),
    },
    destination ?? openDestination({ dest: 2, sync: false, maxLength: BUFFER }),
  )
  children.set(log, made)
  return log
}

/** The logs of stages, providers and services, by the log that they were made of. Each has a level of its own. */
const children = new WeakMap<Logger, Set<WeakRef<Logger>>>()

/** Sets the least level that is logged, by all logs that were made of this one, too. */
export function setLevel(log: Logger, level: LogOptions['level']): void {
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

/** A line of the log as text: the message, what caused it, and its facts. A finding is what `sluice check` prints. */
function readable(line: Json): string {
  const { level, msg, err, time: _, pid: __, ...facts } = line as JsonObject
  const cause = isObject(err) ? (err['stack'] ?? err['message']) : undefined
  const said = [msg, cause].filter((part) => typeof part === 'string').join(': ')
  const told = Object.entries(facts).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  // What others wrote must not move the cursor or change colours.
  const text = [said, ...told].join(' ').replace(/[^\n\x20-\x7e\xa0-\uffff]/g, '?')
  const colour = colours.get(level)
  return colour === undefined ? text : styleText(colour, text, { stream: process.stderr })
}
