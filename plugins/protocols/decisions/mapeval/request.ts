import { GatewayError } from '../../../../engine/index.ts'
import { Losses, orderedObject } from '../../../../engine/kit.ts'
import type {
  DecideQuestion,
  DecideRequest,
  Evidence,
  JsonObject,
  Printed,
  PrintTarget,
} from '../../../../engine/index.ts'
import { unnamed } from '../check.ts'
import { restoring } from '../restore.ts'
import { imageType } from './image-type.ts'
import { passedOn, protocol } from './wire.ts'
import type { Body, Question } from './wire.ts'

/** Parses a validated body into neutral form. Throws `invalid_value` for an image of an unknown format. */
export function parse(body: JsonObject): DecideRequest {
  const { state, questions, images } = body as unknown as Body
  const evidence: Evidence = typeof state === 'string' ? { type: 'text', text: state } : { type: 'data', value: state }
  const fields = passedOn.filter((field) => body[field] !== undefined)
  return {
    evidence: [[evidence, ...(images ?? []).map(parseImage)]],
    questions: Object.entries(questions).map(parseQuestion),
    ...(fields.length > 0
      ? { rest: { protocol, fields: Object.fromEntries(fields.map((key) => [key, body[key]])) } }
      : {}),
  }
}

function parseImage(data: string, index: number): Evidence {
  const mediaType = imageType(data)
  if (mediaType !== undefined) return { type: 'image', mediaType, data }
  const reason = 'it does not begin as an image of a known format does'
  throw new GatewayError('invalid_value', { param: `images[${index}]`, reason }, { status: 422 })
}

function parseQuestion([name, question]: readonly [string, Question]): DecideQuestion {
  const { instructions } = question
  switch (question.type) {
    case 'noul': {
      const { true: yes, false: no } = question.criteria ?? {}
      const rubric = { ...(typeof yes === 'string' ? { yes } : {}), ...(typeof no === 'string' ? { no } : {}) }
      return { type: 'predicate', name, instructions, ...(Object.keys(rubric).length > 0 ? { rubric } : {}) }
    }
    case 'choice': {
      const choices = Object.entries(question.criteria).map(([value, description]) =>
        description === null ? { value } : { value, description },
      )
      return { type: 'choice', name, instructions, choices }
    }
    case 'score':
      return { type: 'score', name, instructions, levels: question.criteria.map((label) => ({ label })) }
  }
}

/**
 * Prints a request for an upstream of this protocol. Messages become one text, in their order. Descriptions of levels
 * become a part of the instructions. The trait `images` of the offer names the field for images; without it, they are
 * dropped.
 */
export function print(request: DecideRequest, { model, offer }: PrintTarget): Printed<JsonObject> {
  const { questions } = request
  const field = offer.traits?.['images']
  const { own, losses } = carried(request, typeof field === 'string')
  const images = request.evidence.flat().flatMap((part) => (part.type === 'image' ? [part.data] : []))
  return {
    body: {
      model,
      state: stateOf(request),
      questions: orderedObject(questions.map((question, index) => [idOf(question, index), printQuestion(question)])),
      ...(typeof field === 'string' && images.length > 0 ? { [field]: images } : {}),
      ...own,
    },
    losses,
    restore: restoring(questions),
  }
}

/** The native fields and the losses of a request. `takesImages`: the provider has a field for images. */
function carried({ evidence, questions, rest }: DecideRequest, takesImages: boolean) {
  const parts = evidence.flat()
  const images = parts.filter((part) => part.type === 'image')
  const losses = new Losses(protocol)
  if (parts.length - images.length > 1) losses.add('input', 'its messages became one text')
  if (images.length > 0 && !takesImages) losses.add('images', 'the provider takes none')
  if (takesImages && images.some(({ detail }) => detail !== undefined))
    losses.add('detail', 'the provider has no such field')
  const described = questions.some(
    (question) => question.type === 'score' && question.levels.some(({ description }) => description !== undefined),
  )
  if (described) losses.add('levels', 'their descriptions became a part of the instructions')
  const own = losses.own(rest, { because: 'the provider has no such field' })
  return { own, losses: losses.list() }
}

/** The id of a question in the map. */
export function idOf({ name }: DecideQuestion, index: number): string {
  return name ?? `${unnamed}${index}`
}

/** A single piece of data stays unchanged; other evidence becomes one text. */
function stateOf({ evidence }: DecideRequest): Body['state'] {
  const messages = evidence.map((message) => message.filter((part) => part.type !== 'image'))
  const [only, ...others] = messages.flat()
  if (only?.type === 'data' && others.length === 0) return only.value
  return messages
    .filter((message) => message.length > 0)
    .map((message) => message.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part.value))).join('\n'))
    .join('\n\n')
}

function printQuestion(question: DecideQuestion): JsonObject {
  const { instructions } = question
  switch (question.type) {
    case 'predicate': {
      const { yes, no } = question.rubric ?? {}
      return { type: 'noul', instructions, criteria: { true: yes, false: no } }
    }
    case 'choice': {
      const criteria = question.choices.map(({ value, description }) => [String(value), description ?? null] as const)
      return { type: 'choice', instructions, criteria: orderedObject(criteria) }
    }
    case 'score':
      return {
        type: 'score',
        instructions: instructions + rubricOf(question.levels),
        criteria: question.levels.map(({ label }) => label),
      }
  }
}

/** The levels as numbered lines below the instructions, if any of them has a description. */
function rubricOf(levels: Extract<DecideQuestion, { type: 'score' }>['levels']): string {
  if (levels.every(({ description }) => description === undefined)) return ''
  const lines = levels.map(({ label, description }, index) =>
    description === undefined ? `${index}. ${label}` : `${index}. ${label}: ${description}`,
  )
  return `\n\nLevels:\n${lines.join('\n')}`
}
