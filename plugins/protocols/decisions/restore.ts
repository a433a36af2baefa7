import { GatewayError } from '../../../engine/index.ts'
import type { DecideAnswer, DecideQuestion, DecideReply, Restore } from '../../../engine/index.ts'

const noTools: Restore['tools'] = new Map()

/** The context for parsing the answers to `questions`. */
export function restoring(questions: readonly DecideQuestion[]): Restore {
  return { tools: noTools, questions }
}

/** The questions of that context. */
export function asked(restore: Restore | undefined): readonly DecideQuestion[] {
  if (!restore?.questions) throw new Error('answers are read with the questions they belong to')
  return restore.questions
}

/** The answer to the question at `index`. */
export function answerAt({ answers }: DecideReply, index: number): DecideAnswer {
  const answer = answers[index]
  if (!answer) throw unreadable(`it has no answer to questions[${index}]`)
  return answer
}

/** The error for an answer that does not fit its questions. */
export function unreadable(reason: string): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason },
    { message: `The provider sent an invalid response: ${reason}.`, tags: ['invalid'] },
  )
}
