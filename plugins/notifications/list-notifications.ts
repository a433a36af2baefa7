import { defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import { causeNames, sentenceOf, states } from './cause.ts'
import type { Sent } from './kept.ts'
import type { ShownCause } from './speaker.ts'

const about = {
  cause: shape.word([...causeNames], 'What is wrong.'),
  subject: shape.text('What it is about.'),
  facts: shape.map({}, 'Numbers, names and codes.'),
  since: shape.orNull(shape.time('Since when; null: it was just seen.')),
  path: shape.text('Where the console shows it.'),
}

const cause = shape.object({
  id: shape.orNull(shape.text('Its id, from begin to end; null: it was not said yet.')),
  ...about,
  said_at: shape.orNull(shape.time('When it was last said; null: it was not.')),
})

const sent = shape.object({
  message: shape.text('The id of the message.'),
  id: shape.text('The id of the cause.'),
  ...about,
  state: shape.word([...states], 'Whether it begins, lasts or ends.'),
  at: shape.time('When it was said.'),
  sentence: shape.text('It in one sentence.'),
  deliveries: shape.list(
    shape.object({
      to: shape.text('Name of the target.'),
      state: shape.word(['waiting', 'delivered', 'given_up'], 'What came of it.'),
      attempts: shape.integer('How often it was tried.'),
      status: shape.orNull(shape.integer('Status of the last answer; null: there was none.')),
    }),
    'What came of it at each target.',
  ),
})

/** Answers what is wrong now, what was said lately, and how its targets do. */
export default defineAction({
  name: 'list-notifications',
  summary: 'Answer what is wrong now, what was said lately, and how targets do.',
  route: 'GET /api/notifications',
  access: { role: 'admin' },
  answer: shape.object({
    open: shape.list(cause, 'What is wrong now.'),
    sent: shape.list(sent, 'The last 100 notices, newest first.'),
    targets: shape.list(
      shape.object({
        name: shape.text('Its name.'),
        address: shape.text('Its scheme and host: the rest of its address is a secret.'),
        form: shape.word(['standard', 'slack'], 'The form of what it gets.'),
        failing_since: shape.orNull(shape.time('Since when it was not reached; null: it was, or was never tried.')),
        tried_at: shape.orNull(shape.time('When it was last tried.')),
        problem: shape.orNull(shape.text('Why it was not reached.')),
      }),
      'The targets.',
    ),
  }),
  uses: ['notifications'],
  async run(_input, { notifications }) {
    const open = await notifications.open()
    // Without the database it is known what is wrong, and not what was said.
    const { sent: said, targets } = await notifications.delivery().catch(() => ({ sent: [], targets: [] }))
    return {
      open: open.map(openShown),
      sent: said.map(sentShown),
      targets: notifications.targets.map(({ name, url, form }) => {
        const state = targets.find((one) => one.name === name)
        const { failing_since: failing = null, tried_at: tried = null, problem = null } = state ?? {}
        const time = (at: number | null) => (at === null ? null : timeText(at))
        return {
          name,
          address: new URL(url).origin,
          form,
          failing_since: time(failing),
          tried_at: time(tried),
          problem,
        }
      }),
    }
  },
})

function openShown({ id, cause: name, subject, facts, since, path, saidAt }: ShownCause): JsonObject {
  return {
    id: id ?? null,
    cause: name,
    subject,
    facts,
    since: since === undefined ? null : timeText(since),
    path,
    said_at: saidAt === undefined ? null : timeText(saidAt),
  }
}

function sentShown({ notice, deliveries }: Sent): JsonObject {
  const { message, id, cause: name, subject, facts, since, path, state, at } = notice
  return {
    message,
    id,
    cause: name,
    subject,
    facts,
    since: timeText(since),
    path,
    state,
    at: timeText(at),
    sentence: sentenceOf(notice),
    deliveries: deliveries.map(({ target: to, state: came, attempts, status }) => ({
      to,
      state: came,
      attempts,
      status,
    })),
  }
}
