import { isObject } from '../../../engine/index.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { documentTokens, imageTokens } from './gather.ts'
import type { Gathered } from './gather.ts'

/** Fields that hold no text for the model: names of things, base64 and ciphertexts. */
const silent: ReadonlySet<string> = new Set(
  'id type status call_id detail format phase encrypted_content data audio_data audio_url video_data video_url result'.split(
    ' ',
  ),
)

/** The texts and media of a responses body: instructions, input, tools and the form of the answer. */
export function gatherItems({ instructions, input, tools, text }: JsonObject): Gathered {
  const gathering = new Gathering()
  gathering.content(instructions)
  gathering.content(input)
  if (Array.isArray(tools) && tools.length > 0) gathering.text(JSON.stringify(tools))
  const format = isObject(text) ? text['format'] : undefined
  if (isObject(format) && format['schema'] !== undefined) gathering.text(JSON.stringify(format))
  return gathering
}

class Gathering implements Gathered {
  readonly texts: string[] = []
  media = 0

  text(value: Json | undefined): void {
    if (typeof value === 'string' && value !== '') this.texts.push(value)
  }

  /** A text, an item or part, or a list of them. */
  content(value: Json | undefined): void {
    if (Array.isArray(value)) for (const one of value) this.content(one)
    else if (isObject(value)) this.#item(value)
    else this.text(value)
  }

  #item(item: JsonObject): void {
    switch (item['type']) {
      case 'input_image':
        this.media += imageTokens(encoded(item['image_url']))
        return undefined
      case 'input_file':
        this.text(item['filename'])
        this.media += documentTokens(encoded(item['file_data']))
        return undefined
      default:
        return this.#fields(item)
    }
  }

  /** Whatever else an item or part says: its texts, and what it contains. */
  #fields(item: JsonObject): void {
    for (const [name, value] of Object.entries(item)) {
      if (silent.has(name)) continue
      if (typeof value === 'string' || Array.isArray(value)) this.content(value)
      else if (isObject(value)) this.#fields(value)
    }
  }
}

/** The base64 of a data URL (RFC 2397). */
function encoded(url: Json | undefined): string | undefined {
  return typeof url === 'string' ? /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1] : undefined
}
