/**
 * Names of attributes. Those of `gen_ai` and `mcp` are in development: they were read from
 * open-telemetry/semantic-conventions-genai, `docs/gen-ai/client-inference.md` at 024a4f94 and `docs/gen-ai/mcp.md` at
 * 0393513c. Each count has one name: Langfuse adds up all keys that contain "input".
 */
export const names = {
  method: 'http.request.method',
  route: 'http.route',
  path: 'url.path',
  scheme: 'url.scheme',
  status: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  protocolVersion: 'network.protocol.version',
  transport: 'network.transport',
  userAgent: 'user_agent.original',
  clientAddress: 'client.address',
  errorType: 'error.type',

  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  outputType: 'gen_ai.output.type',
  requestModel: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  presencePenalty: 'gen_ai.request.presence_penalty',
  stopSequences: 'gen_ai.request.stop_sequences',
  seed: 'gen_ai.request.seed',
  choices: 'gen_ai.request.choice.count',
  stream: 'gen_ai.request.stream',
  reasoning: 'gen_ai.request.reasoning.level',
  previous: 'gen_ai.request.previous_response.id',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_write.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  audioInput: 'gen_ai.usage.audio.input_tokens',
  audioOutput: 'gen_ai.usage.audio.output_tokens',
  imageInput: 'gen_ai.usage.image.input_tokens',
  imageOutput: 'gen_ai.usage.image.output_tokens',
  /** Of no convention; Langfuse documents it as the total cost. */
  cost: 'gen_ai.usage.cost',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolDefinitions: 'gen_ai.tool.definitions',
  toolName: 'gen_ai.tool.name',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  promptName: 'gen_ai.prompt.name',

  mcpMethod: 'mcp.method.name',
  mcpVersion: 'mcp.protocol.version',
  mcpSession: 'mcp.session.id',
  mcpResource: 'mcp.resource.uri',
  jsonRpcId: 'jsonrpc.request.id',
  rpcStatus: 'rpc.response.status_code',

  requestId: 'sluice.request.id',
  pipeline: 'sluice.pipeline',
  protocol: 'sluice.protocol',
  keyId: 'sluice.key.id',
  keyName: 'sluice.key.name',
  member: 'sluice.member.id',
  requested: 'sluice.requested',
  served: 'sluice.served',
  providerRecord: 'sluice.provider',
  tries: 'sluice.tries',
  costUsd: 'sluice.cost.usd',
  costOrigin: 'sluice.cost.origin',
  savings: 'sluice.savings.usd',
  losses: 'sluice.losses',
  tier: 'sluice.tier',
  configVersion: 'sluice.config.version',
  /** Followed by the name of a tag. */
  tag: 'sluice.tag.',
  attempt: 'sluice.attempt',
  upstreamProtocol: 'sluice.upstream.protocol',
  lane: 'sluice.lane',
  mcpServer: 'sluice.mcp.server',
  truncated: 'sluice.content.truncated',

  traceName: 'langfuse.trace.name',
  traceTags: 'langfuse.trace.tags',
  traceSession: 'langfuse.session.id',
  traceUser: 'langfuse.user.id',
} as const

/** The parts of a trace that a client may name by headers, which Langfuse knows under names of its own. */
export const session = 'session.id'
export const user = 'user.id'

/** Attributes that no header may set. */
export const reserved: readonly string[] = [
  'gen_ai.',
  'http.',
  'sluice.',
  'langfuse.',
  'mcp.',
  'llm.',
  'server.',
  'url.',
  'network.',
  'service.',
]
/** The same, by their whole name. With `model`, Langfuse would count a generation. */
export const reservedNames: readonly string[] = ['model', 'error.type']

/** `gen_ai.operation.name`, by operation. Those that the conventions do not have are the gateway's own. */
export const operations: Readonly<Record<string, string>> = {
  generate: 'chat',
  decide: 'decide',
  count: 'count_tokens',
  compact: 'compact',
  embed: 'embeddings',
  image: 'image_generation',
  edit: 'image_edit',
  speak: 'speech',
  transcribe: 'transcription',
  translate: 'translation',
  realtime: 'realtime',
}

/** Providers that the conventions name, by the gateway's type of provider. */
export const providersOfTypes: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
}

/** The same, by the host that a provider is at. */
export const providersOfHosts: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'gcp.gemini',
}
