import { isObject } from '../../engine/kit.ts'
import type { Envelope, Json, JsonObject, Operation, Services, Units, Usage } from '../../engine/index.ts'

/** Speech at 64 kbit/s, of which models hear ten tokens a second. */
const bytesPerSecond = 8_000
const bytesPerToken = 800

/** Operations on audio whose length only the provider knows. */
const hears: ReadonlySet<string> = new Set<Operation>(['transcribe', 'translate'])

/** Kinds of the output of media, whose tokens no request limits. */
const makes: Partial<Record<Operation, 'outputAudio' | 'outputImage' | 'output'>> = {
  image: 'outputImage',
  edit: 'outputImage',
  speak: 'outputAudio',
  transcribe: 'output',
  translate: 'output',
}

/** Text tokens of a request for something other than a conversation: its own text, without files and pictures. */
export function textTokens({ operation, body, contentType, raw }: Envelope, tokens: Services['tokens']): number {
  if (operation !== 'edit' && contentType === 'application/json') return tokens.ofBytes(raw.size)
  const { prompt } = body
  return typeof prompt === 'string' ? tokens.ofBytes(Buffer.byteLength(prompt)) : 0
}

/** Tokens of the recording or the pictures of a request: a recording counts by its length, a picture by its size. */
export function mediaTokens(request: Envelope, tokens: Services['tokens']): Pick<Usage, 'inputAudio' | 'inputImage'> {
  const { operation, protocol, body, raw } = request
  if (hears.has(operation)) return { inputAudio: Math.ceil(raw.size / bytesPerToken) }
  if (operation !== 'edit') return none
  const content = ['image', 'image[]', 'images', 'mask'].flatMap((field) => body[field] ?? []).map(picture)
  return { inputImage: tokens.ofRequest(protocol, { input: [{ role: 'user', content }] }) }
}

const none: Pick<Usage, 'inputAudio' | 'inputImage'> = {}

/** Units beside tokens: those that the request tells, and the length of a recording. */
export function mediaUnits({ operation, raw }: Envelope, told: Units): Units {
  return hears.has(operation) ? { seconds: raw.size / bytesPerSecond, ...told } : told
}

/** Output of media, if there is any: for each picture, or for the whole answer, `assumed` tokens. */
export function mediaOutput(
  { operation }: Envelope,
  { images = 1 }: Units,
  assumed: number,
): Partial<Usage> | undefined {
  const kind = makes[operation]
  if (kind === undefined) return undefined
  const output = images * assumed
  return kind === 'output' ? { output } : { output, [kind]: output }
}

/** An image of a request, as a part of a conversation. */
function picture(image: Json): JsonObject {
  return { type: 'input_image', image_url: isObject(image) ? (image['image_url'] ?? null) : image }
}
