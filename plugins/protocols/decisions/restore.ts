import { GatewayError } from '../../../engine/index.ts'
import type { DecideAnswer, DecideQuestion, DecideReply, Restore } from '../../../engine/index.ts'

const noTools: Restore['tools'] = new Map()

/** What reading the answers to `questions` takes: the questions themselves. */
export function restoring(questions: readonly DecideQuestion[]): Restore {
  return { tools: noTools, questions }
}

/** The questions whose answers are read. */
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

/** An upstream's answer that cannot be what was asked for. */
export function unreadable(reason: string): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason },
    { message: `The provider answered unreadably: ${reason}.`, tags: ['invalid'] },
  )
}
