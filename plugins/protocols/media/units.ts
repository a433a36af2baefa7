import { isObject } from '../../../engine/kit.ts'
import type { Codec } from '../../../engine/index.ts'

type UnitsOf = NonNullable<Codec['meter']['units']>

/**
 * The number of delivered images: for a whole answer, its images; for a stream, those that were counted, or else, if it
 * is complete, the requested number (platform.openai.com/docs/api-reference/images: `n`, default 1; a string in a form).
 */
export const pictures: UnitsOf = ({ n }, answer, complete, delivered = 0) => {
  if (isObject(answer) && Array.isArray(answer['data'])) return { images: answer['data'].length }
  if (delivered > 0) return { images: delivered }
  const asked = Number(n ?? 1)
  const streamed = answer === null || (isObject(answer) && typeof answer['type'] === 'string')
  return streamed && complete && Number.isSafeInteger(asked) && asked > 0 ? { images: asked } : {}
}

/** Characters of the input text. All of them are billed, and the audio of the answer does not report them. */
export const spoken: UnitsOf = ({ input }) => (typeof input === 'string' ? { characters: characters(input) } : {})

/**
 * Seconds of the input audio: the usage of models billed by the second, or the `duration` of a verbose answer
 * (platform.openai.com/docs/api-reference/audio).
 */
export const heard: UnitsOf = (_, answer) => {
  if (!isObject(answer)) return {}
  const { usage, duration } = answer
  const told = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : duration
  return typeof told === 'number' && told >= 0 && Number.isFinite(told) ? { seconds: told } : {}
}

/** The number of code points: UTF-16 units, minus one per surrogate pair. */
function characters(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) count--
  return count
}
