import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { resolve } from 'node:path'
import { GatewayError, Refusal, defineCommand } from '../../engine/index.ts'
import type { CommandOutput, Json, JsonObject, Services } from '../../engine/index.ts'
import { asText, columns, isObject, parsedJson } from '../../engine/kit.ts'
import { routingOf } from './decision.ts'
import { evaluatedPolicy } from './evaluated-policy.ts'
import { nobody, routed } from './previewing.ts'
import type { Route } from './previewing.ts'

/** The pipeline that routes what is not served. */
const pipeline = 'routing-preview'

const options = {
  type: 'object',
  additionalProperties: false,
  properties: {
    prompt: { type: 'string', description: 'What the user says.' },
    model: { type: 'string', default: 'auto', description: 'Virtual model: fast, auto or best.' },
    key: { type: 'string', description: 'Name of the API key that would send the request.' },
    file: { type: 'string', description: 'A file with the body of a chat completions request, in place of a prompt.' },
    replay: { type: 'string', description: 'Id of a routed request, to decide it again from its row in the log.' },
    evaluate: {
      type: 'string',
      description:
        'A file with another policy, to estimate from rated requests how good its choices would have been: {"model": name}, {"tiers": {"SIMPLE": name, …}} or {"policy": "mean-1" or "ts-1"}.',
    },
    since: { type: 'string', description: 'With --evaluate: only requests that began since this time (RFC 3339).' },
    jsonl: {
      type: 'string',
      description:
        'A file with a request per line, in place of a prompt: {"prompt"}, {"request"} with a body, or the body itself. An "id" is repeated.',
    },
  },
} as const

/**
 * Shows how requests for virtual models would be routed: nothing is called and nothing is stored. Returns 1 if a request
 * has no right body, or too few ratings say anything of a policy.
 */
export default defineCommand({
  name: 'route',
  summary: 'Show how a request for fast, auto or best would be routed.',
  options,
  arguments: ['prompt'],
  words: {
    key: { value: 'name' },
    model: { value: 'name' },
    file: { value: 'path' },
    jsonl: { value: 'path' },
    replay: { value: 'id' },
    evaluate: { value: 'path' },
    since: { value: 'time' },
  },
  uses: ['api_keys', 'requests', 'smart_routing', 'experience', 'routing_records'],
  pipelines: [pipeline],
  async run({ prompt, model, key, file, jsonl, replay, evaluate, since }, { api_keys: keys, ...services }, output) {
    if ([prompt, file, jsonl, replay, evaluate].filter((one) => one !== undefined).length !== 1)
      throw new Refusal('say one of a prompt, --file, --jsonl, --replay and --evaluate')
    if (since !== undefined && evaluate === undefined) throw new Refusal('--since needs --evaluate')
    if (evaluate !== undefined) {
      const policy = await jsonIn('--evaluate', resolve(output.folder, evaluate))
      return evaluatedPolicy({ policy, since }, services, output)
    }
    if (replay !== undefined) return decidedAgain(replay, services, output)
    const principal = key === undefined ? nobody : keys.named(key)
    if (principal === undefined) throw new Refusal(`there is no API key "${key}"`)
    const route: Route = (given) => output.dispatch(pipeline, given)
    const preview = (body: JsonObject) =>
      routed(route, { protocol: 'chat', body: { model, ...body }, param: '', principal, preview: {} })
    if (jsonl !== undefined) return lines(resolve(output.folder, jsonl), preview, output)
    try {
      const body = file === undefined ? asking(prompt ?? '') : await jsonIn('--file', resolve(output.folder, file))
      const shown = await preview(body)
      output.out(output.json ? JSON.stringify(shown) : described(shown, output.style))
      return 0
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      output.error(`sluice: ${error.message}`)
      return 1
    }
  },
})

/** Prints what a request of the log would be decided as now, and which of its models have changed since. */
async function decidedAgain(
  id: string,
  { requests, smart_routing: routing, experience }: Pick<Services, 'requests' | 'smart_routing' | 'experience'>,
  { out, error, json }: CommandOutput,
): Promise<number> {
  const row = await requests.row(id)
  const block = row && routingOf(row)
  const would = block && routing.replay({ id, block }, { settings: routing.settings, experience })
  if (block === undefined || would === undefined) {
    error(`sluice: there is no routed request "${id}" in the log`)
    return 1
  }
  if (would.because === 'partial') {
    error(`sluice: the row of "${id}" has not all that its decision was made of, so it cannot be made again`)
    return 1
  }
  const { chosen = null, tier = null, candidates } = block
  const eligible = new Set(routing.models.map(({ name }) => name))
  const changed = (Array.isArray(candidates) ? candidates.map(asText) : []).filter((name) => !eligible.has(name))
  const shown = {
    request_id: id,
    was: { model: chosen, tier },
    would: { ...would },
    same: would.because === 'same',
    changed,
  }
  const gone = changed.length > 0 ? `; no longer eligible: ${changed.join(', ')}` : ''
  if (json) out(JSON.stringify(shown))
  else out(`${wordOf(chosen)} then, ${would.model ?? 'nothing'} now${gone}`)
  return 0
}

function asking(content: string): JsonObject {
  return { messages: [{ role: 'user', content }] }
}

/** The object in the file of an option. */
async function jsonIn(option: string, file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Refusal(`${option} cannot be read: ${error.message}`)
  })
  const value = parsedJson(text)
  if (!isObject(value)) throw new Refusal(`${option} has no JSON object`)
  return value
}

/** Prints a line for each line of a file. */
async function lines(
  file: string,
  preview: (body: JsonObject) => Promise<JsonObject>,
  { out, json }: CommandOutput,
): Promise<number> {
  let wrong = 0
  const input = createReadStream(file)
  const opened = new Promise((open, fail) => input.once('open', open).once('error', fail))
  await opened.catch((error: Error) => {
    throw new Refusal(`--jsonl cannot be read: ${error.message}`)
  })
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const asked = parsedJson(line)
    const shown = await previewed(asked, preview)
    if (shown['mode'] === undefined) wrong += 1
    const value = { ...idIn(asked), ...shown }
    out(json ? JSON.stringify(value) : oneLine(value))
  }
  return wrong > 0 ? 1 : 0
}

async function previewed(
  asked: Json | undefined,
  preview: (body: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const body = requestIn(asked)
  const unread = { status: 400, code: 'invalid_json', message: 'The line has no prompt and no request.' }
  if (body === undefined) return { error: unread }
  try {
    return await preview(body)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { error: { status: error.failure.status, code: error.code, message: error.message } }
  }
}

function requestIn(asked: Json | undefined): JsonObject | undefined {
  if (!isObject(asked)) return typeof asked === 'string' ? asking(asked) : undefined
  const { prompt, request, model } = asked
  const named = model === undefined ? {} : { model }
  if (typeof prompt === 'string') return { ...named, ...asking(prompt) }
  if (isObject(request)) return { ...named, ...request }
  return 'messages' in asked ? asked : undefined
}

function idIn(asked: Json | undefined): JsonObject {
  const id = isObject(asked) ? asked['id'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? { id } : {}
}

function oneLine({ id, mode, tier, complexity, benefit, chosen, error }: JsonObject): string {
  const parts = [id, mode, tier, complexity, benefit, chosen ?? (isObject(error) ? error['code'] : undefined)]
  return parts.map((part) => wordOf(part)).join('  ')
}

/** A preview for people. */
function described(shown: JsonObject, style: CommandOutput['style']): string {
  const { candidates, error, reasoning, estimate, judge } = shown
  const { cost = null, baseline = null, baseline_cost: usual = null } = isObject(estimate) ? estimate : {}
  const facts = [
    ['model', isObject(error) ? style('red', wordOf(error['message'])) : style('green', wordOf(shown['chosen']))],
    [
      'tier',
      `${wordOf(shown['tier'])}, complexity ${wordOf(shown['complexity'])}, benefit ${wordOf(shown['benefit'])}, confidence ${wordOf(shown['confidence'])}`,
    ],
    ['because', wordOf(reasoning)],
    ['cost', `${wordOf(cost)} USD expected, ${wordOf(usual)} with ${wordOf(baseline)}`],
    [
      'judge',
      isObject(judge) ? `${judge['would_ask'] === true ? 'asked' : 'not asked'}: ${wordOf(judge['because'])}` : '-',
    ],
  ]
  const rows = (Array.isArray(candidates) ? candidates.filter(isObject) : []).map((one) => [
    wordOf(one['rank']),
    wordOf(one['model']),
    'excluded' in one ? wordOf(one['because']) : `score ${wordOf(one['score'])}`,
    'excluded' in one ? '' : `${wordOf(one['cost'])} USD`,
  ])
  return [columns(facts, '  '), ...(rows.length > 0 ? [style('bold', 'candidates'), columns(rows, '  ')] : [])].join(
    '\n',
  )
}

function wordOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number') return String(Number(value.toPrecision(4)))
  return typeof value === 'string' ? value : JSON.stringify(value)
}
