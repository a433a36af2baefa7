import type {
  DecideQuestion,
  DecideRequest,
  Evidence,
  JsonObject,
  PrintTarget,
  Printed,
} from '../../../engine/index.ts'
import { Losses } from '../../../engine/kit.ts'
import { unnamed } from './check.ts'
import { restoring } from './restore.ts'
import { inlineImage, protocol } from './wire.ts'
import type { Body, Part } from './wire.ts'

/** Parses a validated body into neutral form. */
export function parse(body: JsonObject): DecideRequest {
  const { input, questions, safety_identifier: safety } = body as unknown as Body
  return {
    evidence: typeof input === 'string' ? [[text(input)]] : input.map(({ content }) => parts(content)),
    questions,
    ...(typeof safety === 'string' ? { rest: { protocol, fields: { safety_identifier: safety } } } : {}),
  }
}

function parts(content: string | readonly Part[]): readonly Evidence[] {
  return typeof content === 'string' ? [text(content)] : content.map(parsePart)
}

function parsePart(part: Part): Evidence {
  if (part.type === 'input_text') return text(part.text)
  const image = inlineImage(part.image_url ?? '') ?? { mediaType: '', data: '' }
  return { type: 'image', ...image, ...(typeof part.detail === 'string' ? { detail: part.detail } : {}) }
}

function text(value: string): Evidence {
  return { type: 'text', text: value }
}

/** Prints a request for an upstream of this protocol. Data becomes JSON text, and criteria become instructions. */
export function print(request: DecideRequest, { model }: PrintTarget): Printed<JsonObject> {
  const { questions, rest } = request
  const losses = new Losses(protocol)
  if (request.evidence.flat().some(({ type }) => type === 'data')) losses.add('state', 'it became JSON text')
  if (questions.some((question) => question.type === 'predicate' && rubricOf(question) !== ''))
    losses.add('criteria', 'what yes and no mean became a part of the instructions')
  const own = losses.own(rest, { because: 'the provider has no such field' })
  return {
    body: { model, input: printInput(request), questions: questions.map(printQuestion), ...own },
    losses: losses.list(),
    restore: restoring(questions),
  }
}

/** A single text is printed as a string; other evidence as messages. */
function printInput({ evidence }: DecideRequest): string | readonly JsonObject[] {
  const [only, ...others] = evidence.flat()
  if (only && others.length === 0 && only.type !== 'image') return textOf(only)
  return evidence.map((message) => ({ role: 'user', content: message.map(printPart) }))
}

function printPart(part: Evidence): JsonObject {
  if (part.type !== 'image') return { type: 'input_text', text: textOf(part) }
  const { mediaType, data, detail } = part
  return {
    type: 'input_image',
    image_url: `data:${mediaType};base64,${data}`,
    ...(detail === undefined ? {} : { detail }),
  }
}

function textOf(part: Exclude<Evidence, { type: 'image' }>): string {
  return part.type === 'text' ? part.text : JSON.stringify(part.value)
}

function printQuestion(question: DecideQuestion): JsonObject {
  const { type, name, instructions } = question
  // A reserved name would be rejected, and answers are matched by position.
  const head = { type, ...(name === undefined || name.startsWith(unnamed) ? {} : { name }) }
  switch (question.type) {
    case 'predicate':
      return { ...head, instructions: instructions + rubricOf(question) }
    case 'choice':
      return { ...head, instructions, choices: question.choices.map((choice) => ({ ...choice })) }
    case 'score':
      return { ...head, instructions, levels: question.levels.map((level) => ({ ...level })) }
  }
}

/** The criteria for yes and no, as lines below the instructions. */
function rubricOf({ rubric }: Extract<DecideQuestion, { type: 'predicate' }>): string {
  const lines = [
    ...(rubric?.yes === undefined ? [] : [`True: ${rubric.yes}`]),
    ...(rubric?.no === undefined ? [] : [`False: ${rubric.no}`]),
  ]
  return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`
}
