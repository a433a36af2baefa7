import { setTimeout as wait } from 'node:timers/promises'
import { ResourceNotFoundError, Server } from '@modelcontextprotocol/server'
import type { ServerContext, ServerOptions } from '@modelcontextprotocol/server'

/** The server that the official conformance suite asks for: its tools, resources and prompts have fixed names. */

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

const words = (text: string) => ({ type: 'text' as const, text })
const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
const said = (text: string) => ({ content: [words(text)] })

type Input = Readonly<Record<string, string>>
export type Tool = (input: Input, context: ServerContext) => object | Promise<object>

/**
 * Options with which a request to the client goes on the stream of the client's own request. Without them it goes on
 * the stream that the client opens by `GET`, and the official server drops it when that stream is not open yet.
 */
const within = ({ id }: ServerContext['mcpReq']) => ({ relatedRequestId: id })

/** A tool that asks the user with a form. */
const asking =
  (properties: object): Tool =>
  async (_input, { mcpReq }) => {
    const requestedSchema = { type: 'object', properties, required: [] } as never
    const asked = { message: 'Please fill in the form', requestedSchema }
    const { action, content } = await mcpReq.elicitInput(asked, within(mcpReq))
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`)
  }

const titled = (value: string) => ({ const: value, title: `Title of ${value}` })
const options = ['option1', 'option2', 'option3']
const values = ['value1', 'value2', 'value3'].map(titled)

const usualTools: Readonly<Record<string, Tool>> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => {
    const text = 'This is an embedded resource content.'
    return {
      content: [{ type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text } }],
    }
  },
  test_multiple_content_types: () => {
    const text = '{"test":"data","value":123}'
    const resource = { uri: 'test://mixed-content-resource', mimeType: 'application/json', text }
    return { content: [words('Multiple content types test:'), image, { type: 'resource', resource }] }
  },
  test_tool_with_logging: async (_input, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      await wait(50)
    }
    return said('Tool with logging executed successfully')
  },
  test_error_handling: () => ({ isError: true, ...said('This tool intentionally returns an error for testing') }),
  test_tool_with_progress: async (_input, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {}
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await wait(50)
    }
    return said('Tool with progress executed successfully')
  },
  test_sampling: async ({ prompt = '' }, { mcpReq }) => {
    const messages = [{ role: 'user' as const, content: words(prompt) }]
    const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 }, within(mcpReq))
    return said(`LLM response: ${'text' in content ? content.text : 'no text'}`)
  },
  test_elicitation: async ({ message = '' }, { mcpReq }) => {
    const text = (description: string) => ({ type: 'string' as const, description })
    const properties = { username: text("User's response"), email: text("User's email address") }
    const requestedSchema = { type: 'object' as const, properties, required: ['username', 'email'] }
    const { action, content } = await mcpReq.elicitInput({ message, requestedSchema }, within(mcpReq))
    return said(`User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`)
  },
  test_elicitation_sep1034_defaults: asking({
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  test_elicitation_sep1330_enums: asking({
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: values },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: values } },
  }),
  test_reconnection: async (_input, { http }) => {
    http?.closeSSE?.()
    await wait(100)
    return said('The stream was closed, and the client came back.')
  },
  json_schema_2020_12_tool: () => said('called'),
}

/** The inputs of tools that take some. */
const usualInputs: Readonly<Record<string, object>> = {
  test_sampling: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  test_elicitation: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
}

const user = (content: object) => ({ role: 'user' as const, content })
const usualPrompts: Readonly<
  Record<string, { readonly needs: readonly string[]; messages(input: Input): readonly object[] }>
> = {
  test_simple_prompt: { needs: [], messages: () => [user(words('This is a simple prompt for testing.'))] },
  test_prompt_with_arguments: {
    needs: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [user(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    needs: ['resourceUri'],
    messages: ({ resourceUri: uri }) => [
      user({
        type: 'resource',
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      user(words('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: { needs: [], messages: () => [user(image), user(words('Please analyze the image above.'))] },
}

const resources = [
  { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'A picture', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched', description: 'A text to watch', mimeType: 'text/plain' },
]

function contentOf(uri: string): object {
  const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? []
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
    return { uri, mimeType: 'application/json', text }
  }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: png }
  if (!resources.some((each) => each.uri === uri)) throw new ResourceNotFoundError(uri)
  return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
}

/** What a server has beside the usual. */
interface More {
  readonly tools: Readonly<Record<string, Tool>>
  readonly inputs: Readonly<Record<string, object>>
  readonly prompts: Readonly<Record<string, (context: ServerContext) => object>>
}

export function conformanceServer(more?: More, options?: ServerOptions): Server {
  const tools = { ...usualTools, ...more?.tools }
  const inputs = { ...usualInputs, ...more?.inputs }
  const prompts = { ...usualPrompts, ...more?.prompts }
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  }
  const server = new Server({ name: 'conformance', version: '1.0.0' }, { ...options, capabilities })
  const nothing = { type: 'object' as const, properties: {} }
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `The suite calls ${name}.`,
      inputSchema: (inputs[name] ?? nothing) as typeof nothing,
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools[params.name]
    if (tool === undefined) throw new Error(`there is no tool ${params.name}`)
    return (await tool((params.arguments ?? {}) as Input, context)) as never
  })
  server.setRequestHandler('resources/list', () => ({ resources }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }))
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [contentOf(params.uri)] }) as never)
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: `The suite gets ${name}.`,
      arguments: ('needs' in prompt ? prompt.needs : []).map((word) => ({
        name: word,
        description: word,
        required: true,
      })),
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = prompts[params.name]
    if (prompt === undefined) throw new Error(`there is no prompt ${params.name}`)
    if (!('needs' in prompt)) return prompt(context) as never
    return { messages: prompt.messages(params.arguments ?? {}) } as never
  })
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }))
  server.setRequestHandler('logging/setLevel', () => ({}))
  return server
}
