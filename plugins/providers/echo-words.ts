import type { CustomTool, FunctionTool, GenerateRequest, Item, Part } from '../../engine/index.ts'
import { sample } from './sample.ts'

/** The text to answer: the last user message, or a value that a required tool or format accepts. */
export function wordsOf(request: GenerateRequest, tool: FunctionTool | CustomTool | undefined): string {
  if (tool?.type === 'function') return JSON.stringify(sample({ type: 'object', ...tool.parameters }))
  if (request.format?.type === 'schema') return JSON.stringify(sample(request.format.schema))
  const last = request.items.findLast((item) => item.type === 'message' && item.role === 'user')
  return last ? textOf(last) : ''
}

/** The tool to call: the one that the client requires, otherwise the first that the user mentions. */
export function toolFor(request: GenerateRequest): FunctionTool | CustomTool | undefined {
  const { tools, toolChoice } = request
  const callable = tools.filter((tool) => tool.type !== 'opaque')
  if (toolChoice === undefined || toolChoice.type === 'auto') return spokenOf(callable, request.items.at(-1))
  if (toolChoice?.type === 'required') return callable[0]
  if (toolChoice?.type === 'tool') return callable.find((tool) => tool.name === toolChoice.name)
  if (toolChoice?.type !== 'allowed' || toolChoice.mode !== 'required') return undefined
  return callable.find((tool) => toolChoice.tools.some(({ name }) => name === tool.name))
}

/** Fewest letters of a word in a tool's name that counts as a mention of the tool. */
const tellingWord = 4

function spokenOf<T extends FunctionTool | CustomTool>(tools: readonly T[], last: Item | undefined): T | undefined {
  if (last?.type !== 'message' || last.role !== 'user') return undefined
  const said = textOf(last).toLowerCase()
  const words = (name: string) => name.toLowerCase().split(/[^a-z]+/)
  return tools.find(({ name }) => words(name).some((word) => word.length >= tellingWord && said.includes(word)))
}

/** Pieces of `size` words with the space after them. Joined, they are the text. */
export function pieces(text: string, size: number): readonly string[] {
  const words = text === '' ? [] : text.split(/(?<=\s)(?=\S)/)
  return Array.from({ length: Math.ceil(words.length / size) }, (_, at) =>
    words.slice(at * size, (at + 1) * size).join(''),
  )
}

/** Rule of thumb for tokens: four characters each. */
export function tokensOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0)
}

/** All readable text of an item. */
export function textOf(item: Item): string {
  switch (item.type) {
    case 'message':
    case 'result':
      return item.content.map(textOfPart).join('')
    case 'call':
      return item.input
    case 'reasoning':
      return item.parts.map(({ text }) => text).join('')
    case 'opaque':
      return ''
  }
}

function textOfPart(part: Part): string {
  return part.type === 'text' || part.type === 'refusal' ? part.text : ''
}
