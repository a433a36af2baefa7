import {
  type DestinationStream,
  type Level,
  type Logger,
  destination as openDestination,
  pino,
  stdTimeFunctions,
} from 'pino'
import { parseJson } from './json/parse.ts'
import { Secrets } from './store/redaction.ts'

export interface LogOptions {
  readonly level: Level | 'silent'
  /** Where lines go; default: standard error, through a bounded buffer. Standard output is for results. */
  readonly destination?: DestinationStream
  /** What no line may show; the registry grows while the log is in use. */
  readonly secrets?: Secrets
}

/** Bytes that wait for a slow reader of standard error; beyond, lines are lost rather than requests delayed. */
const BUFFER = 4 * 1024 * 1024

/** The log of the process: one JSON object per line, with every secret hidden in names, fields and texts. */
export function makeLog({ level, destination, secrets = new Secrets() }: LogOptions): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The finished line is the one place that everything passes: bindings, errors and their causes, messages.
      hooks: { streamWrite: (line) => `${JSON.stringify(secrets.redact(parseJson(line)))}\n` },
    },
    destination ?? openDestination({ dest: 2, sync: false, maxLength: BUFFER }),
  )
}
