import { columns, isObject, parseJson } from '../../engine/kit.ts'
import type { CommandOutput, Json, JsonObject } from '../../engine/index.ts'
import { spansOf, timesOf } from './spans.ts'
import type { RequestsTable } from './table.ts'

/** Names of API keys by their ids. */
type Names = ReadonlyMap<string, string>

type Styling = CommandOutput['style']

/** An exchange in one line: time, result, key, models, duration, tokens and cost. */
export function requestLine(row: RequestsTable, names: Names, style: Styling): string {
  const ended = row.result === 'completed' ? 'green' : 'red'
  const parts = [
    style('dim', new Date(row.at).toISOString().replace('T', ' ').slice(0, 19)),
    style(ended, String(row.status).padEnd(3)),
    row.type.padEnd(10),
    keyName(row, names).padEnd(12),
    servedBy(row).padEnd(32),
    tokensOf(row).padEnd(14),
    costOf(row).padEnd(9),
    milliseconds(row.duration).padStart(8),
    style('dim', row.id),
    ...(row.error === null ? [] : [style('red', row.error)]),
  ]
  return parts.join(' ')
}

/** An exchange as JSON: its columns by their names, and its parsed metadata with the runs of stages. */
export function requestJson(row: RequestsTable, names: Names): JsonObject {
  const {
    metadata,
    stream,
    tags,
    charged_at: _at,
    charged_micros: _micros,
    charged_overrun: _overrun,
    ...columns
  } = row
  const key = keyName(row, names)
  const parsed = metadataOf(metadata)
  const { laps: _laps, ...notes } = parsed
  const runs = { times: timesOf(parsed), spans: spansOf(parsed) }
  return { ...columns, key, stream: stream === 1, tags: metadataOf(tags ?? '{}'), metadata: { ...notes, ...runs } }
}

/** Context for describing an exchange. */
export interface Known {
  readonly names: Names
  /** The exchanges that are parts of it. */
  readonly parts: readonly RequestsTable[]
  /** Reads a pipeline's file, to show the position of an error. */
  readonly read: (file: string) => Promise<string | undefined>
}

/** All details of an exchange. */
export async function describeRequest(
  row: RequestsTable,
  { names, parts: inner, read }: Known,
  style: Styling,
): Promise<string> {
  const metadata = metadataOf(row.metadata)
  const { times: _times, laps: _laps, tries, losses, error_at: at, ...notes } = metadata
  const facts = [
    ['at', new Date(row.at).toISOString()],
    ['key', keyName(row, names)],
    ...given('member', row.member_name ?? row.member_id),
    ...given('tags', tagsOf(row)),
    ['asked for', row.requested ?? '-'],
    ['served by', row.model === null ? '-' : servedBy(row)],
    [
      'protocols',
      row.upstream_protocol === null ? (row.protocol ?? '-') : `${row.protocol ?? '-'} -> ${row.upstream_protocol}`,
    ],
    ['ended', `${row.status}, ${row.result.replace('_', ' ')}${row.error === null ? '' : `, ${row.error}`}`],
    ['tokens', tokensOf(row)],
    ['cost', costOf(row)],
    [
      'took',
      `${milliseconds(row.duration)}${row.first_byte === null ? '' : `, first byte after ${milliseconds(row.first_byte)}`}`,
    ],
    ...given('tier', row.tier),
    ...given('reference', row.reference),
    ...given('part of', row.parent),
    ...given('trace', row.trace_id),
    ...given('pipeline', row.pipeline),
    ...given('configuration', row.config_version),
    ...Object.entries(notes).map(([name, value]) => [
      name.replaceAll('_', ' '),
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ]
  const parts = [
    `${style('bold', row.id)} ${row.type}${row.stream === 1 ? ', streamed' : ''}\n${columns(facts, '  ')}`,
    section('tries', rowsOf(tries, ['model', 'provider', 'code', 'status', 'refusal', 'told']), style),
    section('times', timeRows(metadata), style),
    section('parts', inner.map(partRow), style),
    section('losses', rowsOf(losses, ['field', 'because']), style),
    typeof at === 'string' ? await placeOf(at, read, style) : '',
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A line of facts, if there is one to show. */
function given(name: string, value: string | null): string[][] {
  return value === null ? [] : [[name, value]]
}

function tagsOf({ tags }: RequestsTable): string | null {
  if (tags === null) return null
  return Object.entries(metadataOf(tags))
    .map(([name, value]) => `${name}:${textOf(value)}`)
    .join(', ')
}

function section(title: string, rows: readonly (readonly string[])[], style: Styling): string {
  return rows.length === 0 ? '' : `${style('bold', title)}\n${columns(rows, '  ')}`
}

function rowsOf(list: Json | undefined, fields: readonly string[]): string[][] {
  return Array.isArray(list) ? list.filter(isObject).map((item) => fields.map((field) => textOf(item[field]))) : []
}

function partRow(row: RequestsTable): string[] {
  return [row.type, servedBy(row), String(row.status), costOf(row), milliseconds(row.duration), row.id]
}

/** The time of each stage, with a bar for comparison. */
function timeRows(metadata: JsonObject): string[][] {
  const all = Object.entries(timesOf(metadata)).map(([name, value]): [string, number] => [name, Number(value)])
  const longest = Math.max(...all.map(([, time]) => time), 0.001)
  return all.map(([name, time]) => [name, milliseconds(time), '#'.repeat(Math.ceil((time / longest) * 40))])
}

/** Lines of a pipeline that are shown before and after the position of an error. */
const around = 3

/** The position in its pipeline where an exchange failed. */
async function placeOf(
  at: string,
  read: (file: string) => Promise<string | undefined>,
  style: Styling,
): Promise<string> {
  const [, file = '', line = '', column = ''] = /^([^:]{1,512}):(\d{1,7}):(\d{1,7})/.exec(at) ?? []
  const text = file === '' ? undefined : await read(file)
  const lines = text?.split('\n') ?? []
  const wrong = Number(line)
  const shown = lines.slice(Math.max(wrong - 1 - around, 0), wrong + around).flatMap((content, index) => {
    const number = Math.max(wrong - around, 1) + index
    const written = `  ${String(number).padStart(4)} | ${content}`
    return number === wrong ? [style('red', written), `       | ${' '.repeat(Number(column) - 1)}^`] : [written]
  })
  return [`${style('bold', 'failed at')} ${at}`, ...shown].join('\n')
}

function metadataOf(text: string): JsonObject {
  const metadata: unknown = parseJson(text)
  return isObject(metadata) ? metadata : {}
}

/** The present name of a key; of one that is gone, the name that it had. */
function keyName({ key_id: id, key_name: name }: RequestsTable, names: Names): string {
  return id === null ? '-' : (names.get(id) ?? name ?? id.replace(/^file:/, ''))
}

/** The model and provider that served; without them, the requested model. */
function servedBy({ requested, model, provider }: RequestsTable): string {
  if (model === null) return requested ?? '-'
  return `${requested === null || requested === model ? '' : `${requested} -> `}${model} at ${provider ?? '-'}`
}

function tokensOf(row: RequestsTable): string {
  const { input_tokens: input, cache_read_tokens: read, cache_write_tokens: write } = row
  const { output_tokens: output, reasoning_tokens: reasoning } = row
  if (input === null || output === null) return 'unknown'
  const cached = (read ?? 0) + (write ?? 0)
  return `${input + cached}${cached > 0 ? ` (${read ?? 0} cached)` : ''} + ${output + (reasoning ?? 0)}`
}

/** The cost, which is stored in millionths of a dollar. */
function costOf({ cost_micros: micros }: RequestsTable): string {
  return micros === null ? 'unknown' : `$${(micros / 1_000_000).toFixed(micros > 0 && micros < 10_000 ? 6 : 4)}`
}

function milliseconds(time: number): string {
  return time >= 10_000 ? `${(time / 1000).toFixed(1)} s` : `${time >= 100 ? Math.round(time) : time.toFixed(1)} ms`
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '-')
}
