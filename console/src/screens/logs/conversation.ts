import { createParser } from 'eventsource-parser'
import { words } from './request-words.ts'

/** What somebody said, or a tool gave, as text alone. */
export interface Turn {
  readonly role: string
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])

const plain = (value: unknown): string => (typeof value === 'string' ? value : '')

/** JSON of a captured body; undefined where it is none, or was cut off. */
export function jsonOf(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    // The body is shown as it is.
    return undefined
  }
}

/**
 * The conversation that two captured bodies hold, whichever of the chat protocols they speak. Empty where there is
 * none that can be read.
 */
export function conversationOf(request: string | null, response: string | null): readonly Turn[] {
  const asked = jsonOf(request)
  const answer = jsonOf(response)
  const answered = answer === undefined ? streamedOf(response ?? '') : isFields(answer) ? answeredOf(answer) : []
  return [...(isFields(asked) ? askedOf(asked) : []), ...answered].filter(({ text }) => text !== '')
}

function askedOf(body: Fields): readonly Turn[] {
  const { system, instructions, systemInstruction, messages, input, contents } = body
  const first = textOf(system ?? instructions ?? (isFields(systemInstruction) ? systemInstruction['parts'] : undefined))
  const turns = [...fieldsIn(messages), ...fieldsIn(contents), ...fieldsIn(input)].map(turnOf)
  const typed = typeof input === 'string' ? [{ role: 'user', text: input }] : []
  return [{ role: 'system', text: first }, ...turns, ...typed]
}

/** A message of chat or messages, a content of gemini, or an item of responses. */
function turnOf(message: Fields): Turn {
  const { role, type, content, parts, output, tool_calls: calls } = message
  const own = typeof role === 'string' ? role : type === 'function_call_output' ? 'tool' : 'assistant'
  const said = textOf(content ?? parts ?? output)
  const called = [...fieldsIn(calls), ...(type === 'function_call' ? [message] : [])].map(callOf)
  return { role: own, text: [said, ...called].filter((text) => text !== '').join('\n') }
}

function callOf(call: Fields): string {
  const { name, arguments: given, input, args } = isFields(call['function']) ? call['function'] : call
  const values = given ?? input ?? args ?? ''
  return `${words.calls(plain(name))} ${typeof values === 'string' ? values : JSON.stringify(values)}`.trim()
}

/** Texts of a content and its parts; of a part without text, its type. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return fieldsIn(content).map(partOf).join('\n')
}

function partOf(part: Fields): string {
  const { text, type, content, functionCall, functionResponse } = part
  if (typeof text === 'string') return text
  if (type === 'tool_use') return callOf(part)
  if (isFields(functionCall)) return callOf(functionCall)
  if (isFields(functionResponse)) return JSON.stringify(functionResponse['response'])
  if (content !== undefined) return textOf(content)
  return words.hiddenPart(typeof type === 'string' ? type : (Object.keys(part)[0] ?? ''))
}

function answeredOf(body: Fields): readonly Turn[] {
  const { choices, content, output, candidates, error } = body
  if (isFields(error)) return [{ role: 'error', text: plain(error['message']) }]
  const messages = fieldsIn(choices).map(({ message }) => message)
  const contents = fieldsIn(candidates).map(({ content: one }) => one)
  const whole = Array.isArray(content) ? [{ role: 'assistant', content }] : []
  return [...messages, ...contents, ...whole, ...fieldsIn(output)]
    .filter(isFields)
    .map((message) => ({ ...turnOf(message), role: 'assistant' }))
}

/** The answer of an event stream: texts in their order, and calls of tools as they were put together. */
function streamedOf(text: string): readonly Turn[] {
  const pieces: string[] = []
  let final: readonly Turn[] | undefined
  const parser = createParser({
    onEvent({ data }) {
      const event = jsonOf(data)
      if (!isFields(event)) return
      if (event['type'] === 'response.completed' && isFields(event['response'])) final = answeredOf(event['response'])
      else pieces.push(pieceOf(event))
    },
  })
  parser.feed(`${text}\n\n`)
  return final ?? [{ role: 'assistant', text: pieces.join('') }]
}

function pieceOf(event: Fields): string {
  const { choices, delta, candidates, content_block: block, type } = event
  if (isFields(block) && block['type'] === 'tool_use') return `\n${words.calls(plain(block['name']))} `
  if (isFields(delta)) return plain(delta['text'] ?? delta['partial_json'])
  // Of responses, only what is said; its other deltas are parts of items that stand in the last event.
  if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : ''
  const deltas = fieldsIn(choices).map((choice) => choice['delta'])
  const contents = fieldsIn(candidates).map((candidate) => candidate['content'])
  return [...deltas, ...contents].filter(isFields).map(chatPieceOf).join('')
}

function chatPieceOf({ content, parts, tool_calls: calls }: Fields): string {
  const called = fieldsIn(calls).map(({ function: given }) => {
    const { name, arguments: text = '' } = isFields(given) ? given : {}
    return `${typeof name === 'string' ? `\n${words.calls(name)} ` : ''}${plain(text)}`
  })
  return textOf(content ?? parts) + called.join('')
}
