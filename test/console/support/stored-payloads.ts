import type { JsonObject } from '../../../engine/index.ts'
import { chatFrames } from '../../service/streams.ts'
import { result, speaking } from '../../support/mcp.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, Script, ScriptedUpstream } from '../../support/upstream.ts'
import { startConsole } from './browser.ts'
import type { SignedInRig } from './browser.ts'
import { payloads } from './payloads.ts'
import type { Payload } from './payloads.ts'

/** A payload, and where the gateway keeps it. */
export interface Stored extends Payload {
  readonly keyId: string
  readonly key: string
  /** Ids of the request that was answered, of the one that failed, and of the call of a tool. */
  readonly answered: string
  readonly failed: string
  readonly called: string
}

/** A console of a gateway whose upstream, clients and records say nothing but payloads. */
export interface StoredRig extends SignedInRig {
  readonly stored: readonly Stored[]
  /** What tools say of themselves from now on. */
  describe(of: (payload: Payload) => string): void
}

/** A header has bytes, which the gateway reads one by one. */
export const inHeader = (text: string): string => Buffer.from(text).toString('latin1').trim()

/** An answer that says, calls and is called what the payload is. */
function answer({ text }: Payload): Script {
  const own = { id: text, model: text }
  const call = { index: 0, id: 'call', type: 'function', function: { name: text, arguments: JSON.stringify({ text }) } }
  const delta = { ...own, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }
  const frames = chatFrames('Said: ', text).map((frame) =>
    typeof frame === 'string' ? frame : { data: { ...(frame.data as JsonObject), ...own } },
  )
  return { frames: [...frames.slice(0, -3), { data: delta }, ...frames.slice(-3)] }
}

/** What each model says; one that is asked by its name says what is wrong. */
function respond({ path, body }: RecordedRequest): Script {
  const { model, user } = JSON.parse(body.toString()) as { readonly model: string; readonly user?: string }
  const payload = payloads.find(({ name }) => name === model)
  if (!path.includes('chat') || !payload) return { status: 500, body: { error: { message: `no ${path} of ${model}` } } }
  return user === 'unlucky' ? { status: 400, body: { error: { message: `Wrong: ${payload.text}` } } } : answer(payload)
}

/** An MCP server whose every offer is called and described by a payload. */
function offering(describe: (payload: Payload) => string) {
  return speaking(
    ({ id, method }) => {
      const list = payloads.map((payload) => ({
        name: payload.text,
        title: payload.text,
        uri: payload.text,
        uriTemplate: payload.text,
        description: describe(payload),
        inputSchema: { type: 'object', properties: { text: { type: 'string', description: payload.text } } },
      }))
      if (method === 'resources/templates/list') return result(id, { resourceTemplates: list })
      const [kind = ''] = String(method).split('/')
      return result(id, { [kind]: list })
    },
    { tools: {}, prompts: {}, resources: {} },
  )
}

/** Starts the console, and puts every payload wherever somebody else's text may stand. */
export async function startStored(context: Mocha.Context): Promise<StoredRig> {
  const upstream = await scriptedUpstream()
  let description = ({ text }: Payload) => text
  const offer = offering((payload) => description(payload))
  upstream.answer((request) => (request.path === '/mcp' ? offer(request) : respond(request)))
  const rig = await startConsole(context, {
    providers: [],
    models: [],
    server_config: {
      logging: { capture: 'all', headers: ['user-agent'] },
      smart_routing: { enabled: true, diagnostics: true, exploration: { enabled: false } },
    },
  })
  const stored: Stored[] = []
  for (const payload of payloads) {
    const key = await makeRecords(rig, upstream, payload)
    stored.push({ ...payload, keyId: key.id, key: key.key, ...(await ask(rig, payload, key.key)) })
  }
  await rig.gateway.rows(3 * payloads.length)
  return {
    ...rig,
    stored,
    describe: (of) => (description = of),
    async close() {
      await rig.close()
      await upstream.close()
    },
  }
}

/** A provider, a model, an MCP server and a key of the viewer, each named and described by a payload. */
async function makeRecords({ gateway }: SignedInRig, { url }: ScriptedUpstream, { name, text }: Payload) {
  const make = async (route: string, body: object) => {
    const made = await gateway.asAdmin(`POST ${route}`, body)
    if (made.status !== 201) throw new Error(`${route} ${name}: ${JSON.stringify(made.body)}`)
    return made.body
  }
  const place = { name, allow_private: true }
  await make('/api/config/providers', { ...place, type: 'compatible', base_url: `${url}/v1`, api_key: 'unused' })
  await make('/api/config/models', {
    name,
    provider: name,
    upstream_model: name,
    display_name: text,
    description: text,
    aliases: [`alias:${name}`],
    auto_eligible: true,
    pricing: { input: 1, output: 1 },
  })
  await make('/api/mcp/servers', { ...place, transport: 'http', url: `${url}/mcp`, description: text })
  const key = await make('/api/api-keys', {
    name,
    owner: gateway.viewer.id,
    models: ['auto', name],
    mcp_servers: [name],
    tags: { team: text },
    budget: { usd: 1, period: 'month' },
  })
  return key as { readonly id: string; readonly key: string }
}

/** Sends what a client with the key sends: a request that is routed, one that fails, and the call of a tool. */
async function ask({ gateway }: SignedInRig, { name, text }: Payload, key: string) {
  const send = async (path: string, body: object) => {
    const response = await gateway.post(path, body, {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'user-agent': inHeader(text),
    })
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: text, arguments: { text } } }
  return {
    answered: await send('/v1/chat/completions', { model: 'auto', ...conversation(text) }),
    failed: await send('/v1/chat/completions', { model: name, user: 'unlucky', ...conversation(text) }),
    called: await send(`/servers/${encodeURIComponent(name)}/mcp`, call),
  }
}

/** A conversation in which everybody says the text. */
function conversation(text: string): JsonObject {
  const call = { id: 'call', type: 'function', function: { name: text, arguments: JSON.stringify({ text }) } }
  return {
    stream: true,
    metadata: { note: text },
    tools: [{ type: 'function', function: { name: text, description: text, parameters: { type: 'object' } } }],
    messages: [
      { role: 'system', content: text },
      { role: 'user', content: `Asked: ${text}` },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call', content: text },
    ],
  }
}
