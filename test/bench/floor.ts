// The least that does what is asked of a request of the byte lane, every way hard-coded: Koa, a key, a body that is JSON
// and valid, an answer that is JSON, its usage, and a row in SQLite. What the gateway takes beyond it is its own.
//   BENCH_KEY=... node floor.ts PORT UPSTREAM_PORT DATABASE_FILE
import { randomUUIDv7 } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { Ajv2020 } from 'ajv/dist/2020.js'
import BetterSqlite from 'better-sqlite3'
import Koa from 'koa'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { schema } from '../../plugins/protocols/chat/schema.ts'

interface Answer {
  readonly id: string
  readonly model: string
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

/** The columns of the request log. */
const columns = (
  'id,at,type,key_id,requested,model,provider,protocol,upstream_protocol,stream,status,result,error,attempts,input_tokens,' +
  'cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,cost_micros,first_byte,duration,reference,parent,metadata'
).split(',')

/** Rows that are written together. */
const batch = 200

function serve(port: number, upstream: string, file: string): void {
  const pool = new Pool(`http://127.0.0.1:${upstream}`, { headersTimeout: 0, bodyTimeout: 0 })
  const valid = new Ajv2020({ strict: false, ownProperties: true, validateFormats: false }).compile(schema)
  const keys = new Map([[`Bearer ${process.env['BENCH_KEY']}`, 'bench']])
  const worker = new Worker(import.meta.filename, { workerData: file })
  let rows: string[] = []
  const write = (row: readonly unknown[]) => {
    if (rows.push(JSON.stringify(row)) < batch) return
    worker.postMessage(rows.join('\n'))
    rows = []
  }
  const app = new Koa()
  app.use(async (context) => {
    context.respond = false
    const started = performance.now()
    const { req, res } = context
    const key = keys.get(req.headers.authorization ?? '')
    const bytes = await bodyOf(req)
    const asked = JSON.parse(bytes.toString()) as { readonly model: string }
    if (key === undefined || !valid(asked)) return res.writeHead(400).end()
    const id = randomUUIDv7()
    const { body, type } = await new Promise<{ body: Buffer; type: string }>((resolve, reject) =>
      pool.dispatch(
        { path: '/v1/chat/completions', method: 'POST', body: bytes, headers: ['content-type', 'application/json'] },
        new Collect(resolve, reject),
      ),
    )
    const answer = JSON.parse(body.toString()) as Answer
    const took = performance.now() - started
    res.writeHead(200, {
      'content-type': type,
      'content-length': body.length,
      'x-request-id': id,
      'x-gateway-model': asked.model,
      'x-gateway-provider': 'mock',
      'server-timing': `total;dur=${took.toFixed(1)}`,
    })
    res.on('close', () => write(rowOf(id, key, asked.model, answer, took, res)))
    res.end(body)
  })
  createServer({ noDelay: true }, app.callback()).listen({ port, host: '127.0.0.1', backlog: 4096 })
}

function rowOf(id: string, key: string, model: string, answer: Answer, took: number, res: ServerResponse) {
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = answer.usage ?? {}
  const metadata = JSON.stringify({ times: { call: took }, upstream_id: answer.id, upstream_model: answer.model })
  const cost = input + 2 * output
  const served = [model, model, 'mock', 'chat', 'chat', 0, res.statusCode, 'completed', null, 1]
  return [id, Date.now(), 'chat', key, ...served, input, 0, 0, output, 0, cost, null, took | 0, null, null, metadata]
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    request.on('data', (chunk: Buffer) => parts.push(chunk))
    request.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)))
    request.on('error', reject)
  })
}

class Collect implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: { body: Buffer; type: string }) => void
  readonly #parts: Buffer[] = []
  #type = ''
  readonly onResponseError: (_: unknown, error: Error) => void

  constructor(resolve: (answer: { body: Buffer; type: string }) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.onResponseError = (_, error) => reject(error)
  }

  onRequestStart() {}

  onResponseStart(_: unknown, __: number, headers: Record<string, string | string[] | undefined>) {
    this.#type = String(headers['content-type'])
  }

  onResponseData(_: unknown, chunk: Buffer) {
    this.#parts.push(chunk)
  }

  onResponseEnd() {
    this.#resolve({ body: Buffer.concat(this.#parts), type: this.#type })
  }
}

/** The thread of the rows. */
function store(file: string): void {
  const database = new BetterSqlite(file)
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  database.exec(`create table if not exists requests (id text primary key, ${columns.slice(1).join()})`)
  database.exec('create index if not exists requests_at on requests (at)')
  database.exec('create index if not exists requests_key_id_at on requests (key_id, at)')
  const insert = database.prepare(`insert into requests values (${columns.map(() => '?').join()})`)
  const all = database.transaction((lines: readonly string[]) => {
    for (const line of lines) insert.run(JSON.parse(line))
  })
  parentPort?.on('message', (lines: string) => all.immediate(lines.split('\n')))
}

const [port = '0', upstream = '', file = ''] = process.argv.slice(2)
if (isMainThread) serve(Number(port), upstream, file)
else store(workerData as string)
