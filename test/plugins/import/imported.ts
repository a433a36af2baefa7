import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parse, parseDocument, stringify } from 'yaml'
import type { Document, Node } from 'yaml'
import type { Item } from '../../../plugins/import/report.ts'
import { openGateway } from '../../../engine/gateway.ts'
import type { Gateway } from '../../../engine/gateway.ts'
import { makeLog } from '../../../engine/telling/log.ts'
import { Secrets } from '../../../engine/secrets/redaction.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, ScriptedUpstream, Script } from '../../support/upstream.ts'

/** A report as `--json` prints it. */
export interface ShownReport {
  readonly items: readonly Item[]
  readonly counts: Readonly<Record<Item['status'], number>>
  readonly keys: {
    readonly imported: number
    readonly skipped: number
    readonly disabled: readonly string[]
    readonly lost: readonly string[]
  }
}

/** The files that an import writes, without the report. */
export const written = ['config/sluice.yaml', '.env', '.env.example'] as const

/** All that an import wrote, as one text. */
export async function goldenOf(folder: string, report: ShownReport): Promise<string> {
  const parts = await Promise.all(
    [...written, 'import-report.md'].map(async (name) => {
      const path = join(folder, name)
      return existsSync(path) ? `==> ${name} <==\n${await readFile(path, 'utf8')}` : ''
    }),
  )
  const items = report.items.map(
    ({ file, line, path, status, to = '' }) =>
      `${file}:${line} ${status.padEnd(7)} ${path}${to === '' ? '' : ` -> ${to}`}`,
  )
  return [...parts, '==> items <==', ...items, ''].join('\n')
}

/** Compares a text with the golden file; `UPDATE_GOLDEN=1` writes it. */
export async function requireGolden(file: string, text: string): Promise<void> {
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, text)
  expect(text).to.equal(await readFile(file, 'utf8'))
}

/** Every leaf of a file of YAML or JSON: its path in the words of a report. */
export function leafPaths(text: string): readonly string[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { version: '1.1', merge: true, lineCounter: lines })
  return [...leavesIn(document, document.contents, '')]
}

function* leavesIn(document: Document, given: Node | null, path: string): Iterable<string> {
  const node = isAlias(given) ? (given.resolve(document) as Node | undefined) : given
  if (isMap(node) && node.items.length > 0) {
    const own = node.items.map(({ key }) => keyText(key))
    for (const pair of node.items) {
      if (!isPair(pair)) continue
      const key = keyText(pair.key)
      if (key === '<<') {
        const brought = isAlias(pair.value) ? (pair.value.resolve(document) as Node) : (pair.value as Node)
        if (isMap(brought))
          for (const { key: name, value } of brought.items)
            if (!own.includes(keyText(name))) yield* leavesIn(document, value as Node, `${path}.${keyText(name)}`)
      } else yield* leavesIn(document, pair.value as Node | null, path === '' ? key : `${path}.${key}`)
    }
  } else if (isSeq(node) && node.items.length > 0)
    for (const [at, item] of node.items.entries()) yield* leavesIn(document, item as Node, `${path}[${at}]`)
  else yield path
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.type === 'PLAIN' ? (key.source ?? key.value) : key.value) : String(key)
}

/** The leaves of a file that no item of the report speaks for. */
export function silentLeaves(
  file: string,
  text: string,
  { items }: ShownReport,
  isSection: (path: string) => boolean,
): readonly string[] {
  const own = items.filter((item) => item.file === file)
  const speaksFor = ({ path, status }: Item, leaf: string) => {
    if (path === leaf) return true
    const isAncestor = leaf.startsWith(path) && /^[.[]/.test(leaf.slice(path.length))
    return isAncestor && (status === 'lost' || !isSection(path))
  }
  return leafPaths(text).filter((leaf) => !own.some((item) => speaksFor(item, leaf)))
}

/** A gateway over an imported configuration, whose providers are all at a scripted upstream. */
export interface ImportedGateway {
  readonly url: string
  readonly engine: Gateway
  readonly upstream: ScriptedUpstream
  /** The names of its models, patterns apart. */
  readonly models: readonly string[]
  ask(model: string, key?: string, path?: string): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

const key = 'sk-import-0123456789abcdef0123456789abcdef'

/** Starts the configuration in a folder. Its addresses are replaced by that of an upstream; every variable is set. */
export async function startImported(
  folder: string,
  { env = {}, withKey = true }: { readonly env?: Readonly<Record<string, string>>; readonly withKey?: boolean } = {},
): Promise<ImportedGateway> {
  const upstream = await scriptedUpstream()
  upstream.answer(answerOf)
  const written = await readFile(join(folder, 'config/sluice.yaml'), 'utf8')
  const config = parse(written) as {
    providers: Record<string, unknown>[]
    models: { name: string }[]
    api_keys?: object[]
  }
  const names = [...written.matchAll(/(?<!\$)\$\{(\w+)\}/g)].map(([, name = '']) => name)
  const providers = config.providers.map(({ preset: _preset, timeouts: _timeouts, ...provider }) => ({
    ...provider,
    base_url: `${upstream.url}${paths[String(provider['type'])] ?? '/v1'}`,
  }))
  const file = join(folder, 'config/started.yaml')
  const keys = withKey ? [...(config.api_keys ?? []), { name: 'test', key }] : config.api_keys
  await writeFile(file, stringify({ listen: { port: 0 }, ...config, providers, ...(keys ? { api_keys: keys } : {}) }))
  const secrets = new Secrets()
  const engine = await openGateway({
    file,
    root: folder,
    environment: {
      ...Object.fromEntries(names.map((name) => [name, valueOf(name, upstream.url)])),
      ...(existsSync(join(folder, '.env')) ? parseEnv(await readFile(join(folder, '.env'), 'utf8')) : {}),
      DATABASE_URL: `sqlite:${join(folder, 'data', 'sluice.db')}`,
      ...env,
    },
    log: makeLog({ level: 'error', secrets, destination: { write: () => undefined } }),
    secrets,
  })
  const url = `http://127.0.0.1:${engine.address.port}`
  return {
    url,
    engine,
    upstream,
    models: config.models.map(({ name }) => name).filter((name) => !name.endsWith('*')),
    async ask(model, token = key, path = '/v1/chat/completions') {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      return { status: response.status, text: await response.text() }
    },
    async close() {
      await engine.close(1000)
      await upstream.close()
    },
  }
}

/** A value for a variable that nobody has set. */
function valueOf(name: string, url: string): string {
  if (/_(?:URL|BASE)$/.test(name)) return url
  if (name.includes('REGION')) return 'us-east-1'
  return name.includes('VERSION') ? '2024-10-21' : `value-of-${name.toLowerCase()}`
}

const paths: Readonly<Record<string, string>> = { gemini: '/v1beta', azure: '/openai', bedrock: '' }

/** An answer in the protocol of the address. */
export function answerOf({ path, body }: RecordedRequest): Script {
  const said = 'Good day'
  if (path.includes('generateContent'))
    return {
      body: {
        candidates: [{ content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      },
    }
  if (path.includes('/converse'))
    return {
      body: {
        output: { message: { role: 'assistant', content: [{ text: said }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      },
    }
  if (path.includes('/messages'))
    return {
      body: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: said }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 2 },
      },
    }
  const { model = 'm' } = JSON.parse(body.toString() || '{}') as { model?: string }
  return {
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    },
  }
}
