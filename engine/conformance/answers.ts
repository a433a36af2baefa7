import { deepEqual, equal, ok } from 'node:assert/strict'
import { ExchangeScope } from '../http/scope.ts'
import type { DecideQuestion, DecideRequest } from '../spec/decide.ts'
import { GatewayError } from '../spec/error.ts'
import type { GenerateEvent, GenerateReply, GenerateRequest, Item } from '../spec/generate.ts'
import { group } from './check.ts'
import { legalEvents, legalItems, legalUsage } from './legal.ts'
import type { Rig } from './rig.ts'

const said = (role: 'user' | 'assistant' | 'system', text: string): Item => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
})
const plain: GenerateRequest = { items: [said('user', 'Say yes.')], tools: [], stream: true }
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
/** A conversation with everything that clients commonly send. */
const rich: GenerateRequest = {
  items: [
    said('system', 'Be short.'),
    said('user', 'What is the weather?'),
    { type: 'call', kind: 'function', callId: 'call_1', name: 'weather', input: '{"city":"Rome"}' },
    { type: 'result', kind: 'function', callId: 'call_1', content: [{ type: 'text', text: 'sunny' }] },
    said('assistant', 'Sunny.'),
    said('user', 'And \u{1f327}\ufe0f in \u6771\u4eac?'),
  ],
  tools: [{ type: 'function', name: 'weather', description: 'Tells the weather.', parameters }],
  maxOutputTokens: 500,
  temperature: 0.5,
  stop: ['END'],
  stream: true,
}

export const answers = group('answers', (_, checkWhen) => {
  const generates = { answers: 'generate' } as const

  checkWhen(generates, 'a stream of events in their order', async (rig) => {
    legalEvents(await eventsOf(rig, plain))
  })

  checkWhen(generates, 'a request that wants no stream', async (rig) => {
    legalEvents(await eventsOf(rig, { ...plain, stream: false }))
  })

  checkWhen(generates, 'a conversation with tools, or says that it cannot', async (rig) => {
    for (const request of [rich, { ...rich, toolChoice: { type: 'required' } as const }, { ...rich, tools: [] }]) {
      const events = await eventsOf(rig, request).catch(refusal)
      if (events !== undefined) legalEvents(events)
    }
  })

  checkWhen(generates, 'nothing to a conversation without a word, or something legal', async (rig) => {
    const events = await eventsOf(rig, { ...plain, items: [] }).catch(refusal)
    if (events !== undefined) legalEvents(events)
  })

  checkWhen(generates, 'several requests at once', async (rig) => {
    const provider = rig.open()
    const all = await Promise.all(Array.from({ length: 5 }, () => eventsOf(rig, plain, provider)))
    for (const events of all) legalEvents(events)
  })

  checkWhen(generates, 'the next request after one that nobody listened to', async (rig) => {
    const provider = rig.open()
    const answer = provider.answer?.generate?.(plain, 'm', new ExchangeScope())
    if (answer !== undefined && Symbol.asyncIterator in answer)
      for await (const event of answer) {
        equal(event.type, 'start')
        break
      }
    legalEvents(await eventsOf(rig, plain, provider))
  })

  checkWhen({ answers: 'decide' }, 'each question in its order, with probabilities', async (rig) => {
    const reply = await rig.open().answer?.decide?.(decision, 'm', new ExchangeScope())
    ok(reply !== undefined && 'answers' in reply, 'a decision is answered whole')
    equal(reply.answers.length, decision.questions.length)
    reply.answers.forEach((answer, index) => {
      if (answer.type === 'refusal') return
      const { type } = decision.questions[index] as DecideQuestion
      equal(answer.type, type)
      if (answer.type === 'predicate') return ok(answer.probability >= 0 && answer.probability <= 1)
      equal(answer.probabilities.length, 2)
      const sum = answer.probabilities.reduce((one, other) => one + other, 0)
      ok(Math.abs(sum - 1) < 0.02, `the probabilities add up to ${sum}`)
    })
    if (reply.usage) legalUsage(reply.usage)
  })
})

const decision: DecideRequest = {
  evidence: [[{ type: 'text', text: 'The sky is blue.' }]],
  questions: [
    { type: 'predicate', name: 'blue', instructions: 'Is it blue?' },
    { type: 'choice', name: 'which', instructions: 'Which?', choices: [{ value: 'blue' }, { value: true }] },
    { type: 'score', name: 'how', instructions: 'How blue?', levels: [{ label: 'a little' }, { label: 'very' }] },
  ],
}

/** The events of an answer; a whole answer counts as its items. */
async function eventsOf(
  rig: Rig,
  request: GenerateRequest,
  provider = rig.open(),
): Promise<readonly GenerateEvent[] | undefined> {
  const before = structuredClone(request)
  const answer = provider.answer?.generate?.(request, 'm', new ExchangeScope())
  ok(answer !== undefined, 'nothing answers')
  if (!(Symbol.asyncIterator in answer)) return whole(await answer)
  const events = await Array.fromAsync(answer)
  deepEqual(request, before, 'the request was changed')
  return events
}

function whole(reply: GenerateReply): undefined {
  legalItems(reply.items)
  if (reply.usage) legalUsage(reply.usage)
  return undefined
}

/** A request may be refused, but only with a code of the error table. */
function refusal(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error
  return undefined
}
