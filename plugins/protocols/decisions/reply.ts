import { isObject } from '../../../engine/kit.ts'
import type {
  Asked,
  DecideAnswer,
  DecideQuestion,
  DecideReply,
  Json,
  JsonObject,
  Printed,
  Restore,
} from '../../../engine/index.ts'
import { choiceAnswer, predicateAnswer, scoreAnswer, wordOf } from './answers.ts'
import type { Told } from './answers.ts'
import { answerAt, asked, unreadable } from './restore.ts'
import { parseUsage, printUsage } from './usage.ts'
import type { Body, Question } from './wire.ts'

/** Parses an upstream's answers by position. Throws `upstream_invalid_response` if they do not fit the questions. */
export function parse(body: Json, restore?: Restore): DecideReply {
  const questions = asked(restore)
  const answers = isObject(body) ? body['answers'] : undefined
  if (!isObject(body) || !Array.isArray(answers) || answers.length !== questions.length)
    throw unreadable('it has not one answer per question')
  return {
    ...(typeof body['model'] === 'string' ? { model: body['model'] } : {}),
    answers: questions.map((question, index) => parseAnswer(question, answers[index] as Json, `questions[${index}]`)),
    ...parseUsage(body['usage']),
  }
}

function parseAnswer(question: DecideQuestion, answer: Json, place: string): DecideAnswer {
  if (!isObject(answer)) throw unreadable(`it has no answer to ${place}`)
  const { type, probability, choice, score, confidence } = answer
  if (type === 'refusal') return { type }
  if (type !== undefined && type !== question.type) throw unreadable(`its answer to ${place} is of another type`)
  const told = { choice, score, confidence, probabilities: listed(answer['probabilities']) }
  switch (question.type) {
    case 'predicate':
      return predicateAnswer(probability, place)
    case 'choice':
      return choiceAnswer(question, told, place)
    case 'score':
      return scoreAnswer(question, told, place)
  }
}

/** A list of `{ value, probability }` by the texts of the values, or the indices of the levels. */
function listed(list: Json | undefined): Told['probabilities'] {
  if (!Array.isArray(list)) return undefined
  return new Map(
    list
      .filter(isObject)
      .map(({ value, probability }) => [typeof value === 'number' ? String(value) : wordOf(value), probability]),
  )
}

/** Prints the answers for the client, with its names, values and labels. */
export function print(reply: DecideReply, { model, body }: Asked): Printed<JsonObject> {
  const { questions } = body as unknown as Body
  const answers = questions.map((question, index) => printAnswer(question, answerAt(reply, index)))
  return { body: { model: reply.model ?? model, answers, usage: printUsage(reply) }, losses: [] }
}

function printAnswer(question: Question, answer: DecideAnswer): JsonObject {
  const head = { type: answer.type, name: question.name ?? null }
  switch (answer.type) {
    case 'predicate':
      return { ...head, probability: answer.probability }
    case 'choice': {
      const values = question.type === 'choice' ? question.choices.map(({ value }) => value) : []
      return {
        ...head,
        choice: values[answer.choice] ?? null,
        confidence: answer.confidence,
        probabilities: values.map((value, index) => ({ value, probability: answer.probabilities[index] ?? 0 })),
      }
    }
    case 'score': {
      const levels = question.type === 'score' ? question.levels : []
      return {
        ...head,
        score: answer.score,
        confidence: answer.confidence,
        probabilities: levels.map(({ label }, value) => ({
          value,
          label,
          probability: answer.probabilities[value] ?? 0,
        })),
      }
    }
    case 'refusal':
      return head
  }
}
