import { isObject } from '../../../engine/kit.ts'
import type { Flaw, JsonObject } from '../../../engine/index.ts'
import { inlineImage, isBase64 } from './wire.ts'
import type { Body, Choice, Question } from './wire.ts'

/** Prefix of the names of unnamed questions. */
export const unnamed = '__unnamed_question_'
/** Most images of a request. */
const mostImages = 128

/** Checks that a schema cannot express: images are inline and not too many, names and values are distinct. */
export function check(body: JsonObject): Flaw | undefined {
  const { input, questions } = body as unknown as Body
  return flawOfImages(input) ?? flawOfNames(questions) ?? flawOfValues(questions)
}

/** A hint for a body of the other envelope. */
export function mistaken(body: JsonObject): string | undefined {
  if (body['state'] === undefined && !isObject(body['questions'])) return undefined
  return 'This is the mapeval envelope; send it to /v1/mapeval.'
}

function flawOfImages(input: Body['input']): Flaw | undefined {
  if (typeof input === 'string') return undefined
  let images = 0
  for (const [at, { content }] of input.entries()) {
    if (typeof content === 'string') continue
    for (const [index, part] of content.entries()) {
      if (part.type !== 'input_image') continue
      const param = `input[${at}].content[${index}]`
      if (++images > mostImages) return { param, reason: `a request may have at most ${mostImages} images` }
      if (typeof part.file_id === 'string')
        return { param: `${param}.file_id`, reason: 'images must be inline base64 data URLs, not ids of files' }
      const image = typeof part.image_url === 'string' ? inlineImage(part.image_url) : undefined
      if (!image) return { param: `${param}.image_url`, reason: 'images must be inline base64 data URLs' }
      if (!isBase64(image.data)) return { param: `${param}.image_url`, reason: 'what follows "base64," is no base64' }
    }
  }
  return undefined
}

function flawOfNames(questions: readonly Question[]): Flaw | undefined {
  const known = new Map<string, number>()
  for (const [index, { name }] of questions.entries()) {
    if (name === undefined) continue
    const param = `questions[${index}].name`
    if (name.startsWith(unnamed)) return { param, reason: `names that begin with ${unnamed} are reserved` }
    const before = known.get(name)
    if (before !== undefined) return { param, reason: `questions[${before}] has this name already` }
    known.set(name, index)
  }
  return undefined
}

function flawOfValues(questions: readonly Question[]): Flaw | undefined {
  for (const [index, question] of questions.entries()) {
    if (question.type !== 'choice') continue
    const twice = repeated(question.choices)
    if (twice) return { param: `questions[${index}].choices[${twice.at}].value`, reason: twice.reason }
  }
  return undefined
}

/** The first value that an earlier choice has, with booleans as text. */
function repeated(choices: readonly Choice[]): { readonly at: number; readonly reason: string } | undefined {
  const known = new Map<string, number>()
  for (const [at, { value }] of choices.entries()) {
    const before = known.get(String(value))
    if (before !== undefined) {
      const same = choices[before]?.value === value
      const reason = same ? 'has this value already' : 'has this value when a boolean is written as its word'
      return { at, reason: `choices[${before}] ${reason}` }
    }
    known.set(String(value), at)
  }
  return undefined
}
