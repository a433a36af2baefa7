import { FrameDecoder, defined, fold, isObject, through, valueAt } from '../../engine/kit.ts'
import type {
  AnswerContent,
  Envelope,
  EventParser,
  GenerateEvent,
  GenerateReply,
  Host,
  Json,
  JsonObject,
  Operation,
  ReplyOf,
  Scope,
  Source,
  ToldContent,
  Upstream,
  UpstreamAnswer,
} from '../../engine/index.ts'

/** Tells of a request when its provider is asked, if anybody listens. */
export function tellRequest(scope: Scope, request: Envelope, { same }: Upstream, host: Host): void {
  const { call } = scope
  call?.tell({
    streamed: request.stream,
    lane: same ? 'bytes' : 'translated',
    asked: () => parametersOf(request, same && !call.keeps, host),
    ...(call.keeps ? { content: () => requestIn(request) } : {}),
  })
}

/** Where the conversation stands in the bodies of protocols; it is long, and has no parameters. */
const conversations = ['messages', 'input', 'contents']
/** What is told apart, or not at all, and which the neutral form of a body may refuse: the choices, and a tool. */
const refused = ['n', 'tool_choice']

/** Numbers of a request, and what the bodies of protocols call them. */
const numbers = {
  maxOutputTokens: ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'maxOutputTokens', 'maxTokens'],
  temperature: ['temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
  frequencyPenalty: ['frequency_penalty', 'frequencyPenalty'],
  presencePenalty: ['presence_penalty', 'presencePenalty'],
  seed: ['seed'],
}

/**
 * Numbers and names that the client chose; a body is not parsed before.
 * @param isUnread whether nobody else wants the neutral form
 */
function parametersOf(request: Envelope, isUnread: boolean, host: Host): JsonObject {
  const { body } = request
  if (request.operation !== 'generate')
    return Object.fromEntries(
      Object.entries(body).filter(([, value]) => typeof value === 'number' || typeof value === 'boolean'),
    )
  const { answerCounts = [] } = host.codec(request.protocol)
  // A chain that the gateway knows stands in the body by now.
  const { previous_response_id: previous } = request.sent
  const said = {
    choices: answerCounts.map((path) => valueAt(body, path)).find((count) => typeof count === 'number'),
    conversation: conversationIn(request)?.slice(0, 256),
    previous: typeof previous === 'string' ? previous.slice(0, 256) : undefined,
  }
  // What refuses the whole request may take it without what is not told from there.
  const whole = isUnread ? undefined : readable(() => request.neutral('generate'))
  const asked = whole ?? readable(() => withoutConversation(request).neutral('generate'))
  if (asked === undefined) return { ...plainNumbers(body), ...said }
  return {
    ...asked,
    ...said,
    // Whoever wants to know reads all of the conversation for it.
    get items() {
      return (whole ?? readable(() => request.neutral('generate')))?.items.length
    },
    tools: asked.tools.length,
    // How many of the items, which are the first ones, do not stand in the conversation.
    get apart() {
      return readable(() => withoutConversation(request).neutral('generate'))?.items.length
    },
    toolChoice: undefined,
    rest: undefined,
    user: undefined,
    cacheKey: undefined,
    metadata: undefined,
    reasoning: asked.reasoning && { ...asked.reasoning },
    format: asked.format?.type,
  }
}

/** What the client calls the conversation: in the gateway's words, otherwise in those of the responses API. */
function conversationIn({ sent: { routing, conversation }, headers }: Envelope): string | undefined {
  const named = [
    isObject(routing) ? routing['conversation'] : undefined,
    headers['x-conversation-id'],
    isObject(conversation) ? conversation['id'] : conversation,
  ]
  return named.find((one) => typeof one === 'string' && one !== '') as string | undefined
}

function withoutConversation(request: Envelope): Envelope {
  const body = { ...request.body }
  for (const field of conversations) if (body[field] !== undefined) body[field] = []
  for (const field of refused) delete body[field]
  return request.with({ body })
}

function plainNumbers({ generationConfig, inferenceConfig, ...body }: JsonObject): JsonObject {
  const given: JsonObject = { ...body, ...objectOf(generationConfig), ...objectOf(inferenceConfig) }
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([field, words]) => {
      const value = words.map((word) => given[word]).find((one) => typeof one === 'number')
      return value === undefined ? [] : [[field, value] as const]
    }),
  )
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** What a body says, if it has a meaning. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function requestIn(request: Envelope): ToldContent {
  return whatThereIs(() => ({ request: request.neutral(request.operation) }))
}

/** What of a content can be read; of the rest the client was told, if it matters. */
function whatThereIs<T extends object>(read: () => T): Partial<T> {
  return readable(read) ?? {}
}

/** How answers of a provider are read. */
export interface Readers {
  readonly replyOf: (answer: Extract<AnswerContent, { kind: 'whole' }>) => ReplyOf<Operation>
  readonly reader: () => EventParser<GenerateEvent>
}

/** Most bytes of a stream that are kept to be told. */
const most = 16 * 1024 * 1024

/**
 * What gates have released of an answer, before it was changed for its client: what they have kept is told to nobody.
 */
export class Released {
  #events: GenerateEvent[] = []
  #size = 0
  #reply: GenerateReply | undefined

  /** For an answer with gates, if somebody wants the contents of its call. */
  static of({ call }: Scope, request: Envelope): Released | undefined {
    if (call?.keeps !== true) return undefined
    const released = new Released()
    call.tell({
      content: () => ({ ...requestIn(request), ...whatThereIs(() => defined({ reply: released.#read() })) }),
    })
    return released
  }

  note(event: GenerateEvent): void {
    this.#size += 'text' in event ? event.text.length : 0
    if (this.#size <= most) this.#events.push(event)
    else this.#events = []
  }

  whole(reply: GenerateReply): void {
    this.#reply = reply
  }

  #read(): GenerateReply | undefined {
    return this.#reply ?? (this.#events.length === 0 || this.#size > most ? undefined : fold(this.#events))
  }
}

/** An answer, of which a copy is kept if somebody wants the contents of its call. */
export function kept(answer: UpstreamAnswer, request: Envelope, scope: Scope, readers: Readers): AnswerContent {
  const { call } = scope
  if (call?.keeps !== true) return answer
  const tell = (read: () => ReplyOf<Operation> | undefined) => {
    call.tell({ content: () => ({ ...requestIn(request), ...whatThereIs(() => defined({ reply: read() })) }) })
  }
  switch (answer.kind) {
    case 'bytes':
      return answer
    case 'whole':
      tell(() => readers.replyOf(answer))
      return answer
    case 'neutral-reply':
      tell(() => answer.reply)
      return answer
    case 'neutral-events': {
      const events: GenerateEvent[] = []
      tell(() => fold(events))
      return { kind: answer.kind, events: noted(answer.events, events) }
    }
    case 'events': {
      const copy = new Copy()
      tell(() => copy.read(readers.reader()))
      return { kind: answer.kind, source: copy.of(answer.source) }
    }
  }
}

async function* noted(events: AsyncIterable<GenerateEvent>, all: GenerateEvent[]): AsyncGenerator<GenerateEvent> {
  for await (const event of events) {
    all.push(event)
    yield event
  }
}

/** The bytes of a stream. */
class Copy {
  #chunks: Uint8Array[] = []
  #size = 0

  of(source: Source): Source {
    return through(source, {
      data: (chunk) => {
        this.#size += chunk.length
        // A chunk itself would keep the whole read buffer of its socket.
        if (this.#size <= most) this.#chunks.push(Uint8Array.from(chunk))
        else this.#chunks = []
        return chunk
      },
    })
  }

  read(reader: EventParser<GenerateEvent>): ReplyOf<'generate'> | undefined {
    if (this.#size === 0 || this.#size > most) return undefined
    const decoder = new FrameDecoder()
    const frames = [...decoder.push(Buffer.concat(this.#chunks)), ...decoder.end()]
    return fold([...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()])
  }
}
