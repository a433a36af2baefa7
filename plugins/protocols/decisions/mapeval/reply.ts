import { isObject, orderedObject } from '../../../../engine/kit.ts'
import type {
  Asked,
  DecideAnswer,
  DecideQuestion,
  DecideReply,
  Json,
  JsonObject,
  Printed,
  Restore,
} from '../../../../engine/index.ts'
import { choiceAnswer, predicateAnswer, scoreAnswer } from '../answers.ts'
import { answerAt, asked, unreadable } from '../restore.ts'
import { parseUsage, printUsage } from '../usage.ts'
import { idOf } from './request.ts'
import type { Body, Question } from './wire.ts'

/**
 * Parses an upstream's answers by the ids of the questions. Confidence, probabilities and legend are optional, and
 * other fields are ignored. Throws `upstream_invalid_response` if the answers do not fit the questions.
 */
export function parse(body: Json, restore?: Restore): DecideReply {
  const questions = asked(restore)
  const answers = isObject(body) ? body['answers'] : undefined
  if (!isObject(body) || !isObject(answers)) throw unreadable('it has no answers')
  const found = new Map(Object.entries(answers))
  return {
    ...(typeof body['model'] === 'string' ? { model: body['model'] } : {}),
    answers: questions.map((question, index) =>
      parseAnswer(question, found.get(idOf(question, index)), `questions[${index}]`),
    ),
    ...parseUsage(body['usage']),
  }
}

function parseAnswer(question: DecideQuestion, answer: Json | undefined, place: string): DecideAnswer {
  if (!isObject(answer)) throw unreadable(`it has no answer to ${place}`)
  const { type, noul, choice, score, confidence, probabilities } = answer
  if (type === 'refusal') return { type }
  if (type !== undefined && type !== wordOf(question)) throw unreadable(`its answer to ${place} is of another type`)
  const told = {
    choice,
    score,
    confidence,
    probabilities: isObject(probabilities) ? new Map(Object.entries(probabilities)) : undefined,
  }
  switch (question.type) {
    case 'predicate':
      return predicateAnswer(noul, place)
    case 'choice':
      return choiceAnswer(question, told, place)
    case 'score':
      return scoreAnswer(question, told, place)
  }
}

/** The name of a question's type in this envelope. */
function wordOf({ type }: DecideQuestion): string {
  return type === 'predicate' ? 'noul' : type
}

/** Prints the answers for the client, by its ids. */
export function print(reply: DecideReply, { model, body }: Asked): Printed<JsonObject> {
  const { questions } = body as unknown as Body
  const answers = Object.entries(questions).map(
    ([id, question], index) => [id, printAnswer(question, answerAt(reply, index))] as const,
  )
  return {
    body: { model: reply.model ?? model, answers: orderedObject(answers), usage: printUsage(reply) },
    losses: [],
  }
}

function printAnswer(question: Question, answer: DecideAnswer): JsonObject {
  switch (answer.type) {
    case 'predicate':
      return { type: 'noul', noul: answer.probability }
    case 'choice': {
      const values = question.type === 'choice' ? Object.keys(question.criteria) : []
      return {
        type: 'choice',
        choice: values[answer.choice] ?? null,
        confidence: answer.confidence,
        probabilities: orderedObject(values.map((value, index) => [value, answer.probabilities[index] ?? 0])),
      }
    }
    case 'score': {
      const levels = question.type === 'score' ? question.criteria : []
      return {
        type: 'score',
        score: answer.score,
        confidence: answer.confidence,
        legend: Object.fromEntries(levels.entries()),
        probabilities: Object.fromEntries(levels.map((_, index) => [index, answer.probabilities[index] ?? 0])),
      }
    }
    case 'refusal':
      return { type: 'refusal' }
  }
}
