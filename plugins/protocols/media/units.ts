import { isObject } from '../../../engine/kit.ts'
import type { Codec } from '../../../engine/index.ts'

type UnitsOf = NonNullable<Codec['meter']['units']>

/**
 * Pictures that were delivered: those of a whole answer. A stream that has come to its end has sent as many as were asked
 * for (platform.openai.com/docs/api-reference/images: `n`, 1 unless it is said; the text of a number in a form).
 */
export const pictures: UnitsOf = ({ n }, answer, complete) => {
  if (isObject(answer) && Array.isArray(answer['data'])) return { images: answer['data'].length }
  const asked = Number(n ?? 1)
  const streamed = answer === null || (isObject(answer) && typeof answer['type'] === 'string')
  return streamed && complete && Number.isSafeInteger(asked) && asked > 0 ? { images: asked } : {}
}

/** Characters of the text to speak: the audio that comes back does not tell them, and all of it is paid for. */
export const spoken: UnitsOf = ({ input }) => (typeof input === 'string' ? { characters: characters(input) } : {})

/**
 * Seconds of the recording: the usage of models that are paid by them, or how long a verbose answer says that it is
 * (platform.openai.com/docs/api-reference/audio).
 */
export const heard: UnitsOf = (_, answer) => {
  if (!isObject(answer)) return {}
  const { usage, duration } = answer
  const told = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : duration
  return typeof told === 'number' && told >= 0 && Number.isFinite(told) ? { seconds: told } : {}
}

/** Code points. A text has some for itself, and one for each pair of surrogates. */
function characters(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) count--
  return count
}
