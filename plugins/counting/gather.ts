import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { Gathering } from './gathering.ts'
import type { Gathered } from './gathering.ts'

/** Fields without text for the model: base64, signatures and ciphertexts. */
const sealed: ReadonlySet<string> = new Set([
  'data',
  'signature',
  'encrypted_content',
  'encrypted_index',
  'cache_control',
])

/** Gathers the texts and media of a messages body: system, messages and tools. */
export function gather({ system, messages, tools }: JsonObject): Gathered {
  const gathering = new Blocks()
  gathering.content(system)
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isObject(message)) continue
    gathering.text(message['role'])
    gathering.content(message['content'])
  }
  if (Array.isArray(tools) && tools.length > 0) gathering.text(JSON.stringify(tools))
  return gathering
}

class Blocks extends Gathering {
  protected override item(block: JsonObject): void {
    switch (block['type']) {
      case 'text':
        return this.text(block['text'])
      case 'thinking':
        return this.text(block['thinking'])
      case 'redacted_thinking':
        return undefined
      case 'image':
        return this.image(isObject(block['source']) ? block['source']['data'] : undefined)
      case 'document':
        this.text(block['title'])
        this.text(block['context'])
        return this.#source(block['source'])
      case 'tool_use':
        this.text(block['name'])
        return this.text(JSON.stringify(block['input'] ?? {}))
      case 'tool_result':
        return this.content(block['content'])
      default:
        return this.#other(block)
    }
  }

  #source(source: Json | undefined): void {
    const { type, data, content } = isObject(source) ? source : {}
    if (type === 'text') this.text(data)
    else if (type === 'content') this.content(content)
    else this.document(data)
  }

  /** Gathers a block of an unknown type: its fields as JSON, and nested blocks. */
  #other({ content, ...fields }: JsonObject): void {
    this.text(JSON.stringify(fields, (key, value: unknown) => (sealed.has(key) ? undefined : value)))
    this.content(content)
  }
}
