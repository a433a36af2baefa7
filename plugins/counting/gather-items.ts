import { asText, isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { Gathering } from './gathering.ts'
import type { Gathered } from './gathering.ts'

/** Fields without text for the model: identifiers, base64 and ciphertexts. */
const silent: ReadonlySet<string> = new Set(
  `id type status call_id detail format phase encrypted_content data audio_data audio_url video_data video_url result
   mimeType thoughtSignature`.split(/\s+/),
)

/**
 * Gathers the texts and media of a responses body: instructions, input, tools and the answer format.
 * @param otherwise in place of an input that is absent, such as the messages of another protocol
 */
export function gatherItems({ instructions, input, tools, text }: JsonObject, otherwise?: Json): Gathered {
  const gathering = new Items()
  gathering.content(instructions)
  gathering.content(input === undefined ? otherwise : input)
  if (Array.isArray(tools) && tools.length > 0) gathering.text(JSON.stringify(tools))
  const format = isObject(text) ? text['format'] : undefined
  if (isObject(format) && format['schema'] !== undefined) gathering.text(JSON.stringify(format))
  return gathering
}

/** The same of a body of generateContent, which may stand in a `generateContentRequest`. */
export function gatherContents(body: JsonObject): Gathered {
  const { generateContentRequest: inner, generate_content_request: spelled } = body
  const request = inner ?? spelled ?? body
  if (!isObject(request)) return gatherItems({})
  const { contents, tools, systemInstruction, system_instruction: instruction = null } = request
  return gatherItems({
    instructions: systemInstruction ?? instruction,
    input: contents ?? null,
    ...(tools === undefined ? {} : { tools }),
  })
}

class Items extends Gathering {
  /** The content of a data URL is never counted as text, in any field. */
  override text(value: Json | undefined): void {
    const { kind, data } = dataUrl(value) ?? {}
    if (data === undefined) super.text(value)
    else if (kind === 'image') this.image(data)
    else if (kind !== 'audio' && kind !== 'video') this.document(data)
  }

  protected override item(item: JsonObject): void {
    switch (item['type']) {
      case 'input_image':
      case 'computer_screenshot':
        return this.image(dataUrl(item['image_url'])?.data)
      case 'image':
        return this.image(dataUrl(item['url'])?.data)
      case 'input_file':
        this.text(item['filename'])
        return this.document(dataUrl(item['file_data'])?.data)
      default:
        if (asText(item['mimeType']).startsWith('image/')) this.image(asText(item['data']))
        return this.#fields(item)
    }
  }

  /** Gathers the other fields of an item or part: its texts, and nested items. */
  #fields(item: JsonObject): void {
    for (const name in item) if (!silent.has(name)) this.content(item[name])
  }
}

/** The top-level media type of a data URL, and its base64 (RFC 2397). */
function dataUrl(url: Json | undefined): { readonly kind?: string; readonly data?: string } | undefined {
  return typeof url === 'string'
    ? /^data:(?<kind>\w{0,32})[^,]{0,256};base64,(?<data>.*)$/is.exec(url)?.groups
    : undefined
}
