import {
  CLIENT_CAPABILITIES_META_KEY,
  InMemoryServerEventBus,
  MissingRequiredClientCapabilityError,
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
} from '@modelcontextprotocol/server'
import type { ClientCapabilities, ServerContext } from '@modelcontextprotocol/server'
import { conformanceServer } from './server.ts'
import type { Tool } from './server.ts'

/** What the suite asks of servers since revision 2026-07-28, where a server asks clients by an answer instead of a request. */

/** What changes at the server, for those who listen. */
export const changes = new InMemoryServerEventBus()

const states = createRequestStateCodec<string>({ key: 'the states of the conformance suite' })

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })

const form = (message: string, properties: object) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) } as never,
  })
const name = () => form('What is your name?', { name: { type: 'string' } })
const sampling = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 })

/** Asks until there is an answer to each question. */
const needing =
  (questions: () => NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>, state?: string): Tool =>
  async (_input, { mcpReq }) => {
    const inputRequests = questions()
    const answers = mcpReq.inputResponses ?? {}
    const isAnswered = Object.keys(inputRequests).every((key) => Object.hasOwn(answers, key))
    if (isAnswered && mcpReq.requestState() === state) return said(`state-ok ${JSON.stringify(answers)}`)
    return inputRequired({ inputRequests, ...(state && { requestState: await states.mint(state) }) })
  }

const confirming = needing(() => ({ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }), 'confirming')

const rounds: Tool = async (_input, { mcpReq }) => {
  const given = (key: string) => acceptedContent(mcpReq.inputResponses, key)
  const isSecond = mcpReq.requestState() === 'second'
  if (isSecond && given('step2')) return said(`color ${JSON.stringify(given('step2'))}`)
  if (isSecond || given('step1')) {
    const step2 = form('Step 2: What is your favorite color?', { color: { type: 'string' } })
    return inputRequired({ inputRequests: { step2 }, requestState: await states.mint('second') })
  }
  const step1 = form('Step 1: What is your name?', { name: { type: 'string' } })
  return inputRequired({ inputRequests: { step1 }, requestState: await states.mint('first') })
}

const tools: Readonly<Record<string, Tool>> = {
  test_input_required_result_elicitation: needing(() => ({ user_name: name() })),
  test_input_required_result_sampling: needing(() => ({
    capital_question: sampling('What is the capital of France?'),
  })),
  test_input_required_result_list_roots: needing(() => ({ client_roots: inputRequired.listRoots() })),
  test_input_required_result_request_state: confirming,
  test_input_required_result_tampered_state: confirming,
  test_input_required_result_multiple_inputs: needing(
    () => ({ user_name: name(), greeting: sampling('Generate a greeting'), client_roots: inputRequired.listRoots() }),
    'several',
  ),
  test_input_required_result_multi_round: rounds,
  test_input_required_result_capabilities: (_input, { mcpReq }) => {
    const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {}
    const can = envelope[CLIENT_CAPABILITIES_META_KEY]
    return inputRequired({
      inputRequests: { ...(can?.elicitation && { name: name() }), ...(can?.sampling && { hello: sampling('Hello?') }) },
    })
  },
  test_missing_capability: () => {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  },
  test_streaming_elicitation: async (_input, { mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 'one', progress: 1 } })
    return inputRequired({ inputRequests: { user_name: name() } })
  },
  test_logging_tool: async (_input, { mcpReq }) => {
    await mcpReq.log('info', 'only for those who asked')
    return said('logged')
  },
  test_trigger_tool_change: () => {
    changes.publish({ kind: 'tools_list_changed' })
    return said('changed')
  },
  test_trigger_prompt_change: () => {
    changes.publish({ kind: 'prompts_list_changed' })
    return said('changed')
  },
  test_custom_header: ({ region = '' }) => said(region),
}

const inputs = {
  test_custom_header: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  },
}

function prompt({ mcpReq }: ServerContext): object {
  const given = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context')
  if (given) return { messages: [{ role: 'user', content: { type: 'text', text: given.context } }] }
  const user_context = form('What context should the prompt use?', { context: { type: 'string' } })
  return inputRequired({ inputRequests: { user_context } })
}

export const statelessServer = () =>
  conformanceServer(
    { tools, inputs, prompts: { test_input_required_result_prompt: prompt } },
    { requestState: { verify: (state, context) => states.verify(state, context) } },
  )
