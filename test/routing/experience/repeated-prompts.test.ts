import { expect } from 'chai'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { chatAnswer } from '../../service/streams.ts'
import { say, startRouting } from '../core/rig.ts'
import type { Routing } from '../core/rig.ts'

const monitor = 'sk-test-monitor-0123456789abcdef0123456789'
const easy = 'complexity 0.3'

describe('a prompt that is repeated', () => {
  let rig: Routing
  beforeEach(async () => {
    rig = await startRouting({
      routing: { experience: { implicit: true } },
      api_keys: [{ name: 'monitor', key: monitor }],
    })
  })
  afterEach(() => rig.close())

  const rewards = () =>
    tablesOf(rig.gateway.engine.database).selectFrom('experience_rewards').selectAll().orderBy('at').execute()
  const asMonitor = { authorization: `Bearer ${monitor}` }
  const chosen = async (body: object, headers: Record<string, string> = {}) =>
    (await rig.ask(body, headers)).routing['chosen']
  const user = (content: string) => ({ role: 'user', content })
  const answered = { role: 'assistant', content: 'OK' }

  it('by a monitor teaches nothing, and makes nothing dearer for anybody', async () => {
    const alive = say(`Say OK if you are alive: ${easy}`)
    for (let count = 0; count < 30; count++) await chosen(alive, asMonitor)
    const others: unknown[] = []
    for (let count = 0; count < 10; count++) others.push(await chosen(say(`Question ${count}: ${easy}`)))
    expect(others).to.deep.equal(Array.from({ length: 10 }, () => 'small'))
    // What teaches something is written after all that came before.
    await chosen({ ...alive, messages: [...alive.messages, answered, user(`Thank you. ${easy}`)] }, asMonitor)
    await until(async () => (await rewards()).length > 0)
    expect((await rewards()).map(({ source, reward, turn }) => [source, reward, turn])).to.deep.equal([
      ['implicit:next_turn', 1, 1],
    ])
  })

  it('in a conversation that the client names says once that the answer was not good enough', async () => {
    const id = { 'x-conversation-id': 'one' }
    for (let count = 0; count < 5; count++) await chosen(say(easy), id)
    await chosen({ ...say(easy), messages: [user(easy), answered, user(`More. ${easy}`)] }, id)
    await chosen({ ...say(easy), messages: [user(easy), answered, user('More.'), answered, user(easy)] }, id)
    await until(async () => (await rewards()).length > 1)
    expect((await rewards()).map(({ reward, turn }) => [reward, turn])).to.deep.equal([
      [0, 1],
      [1, 2],
    ])
  })

  it('is decided alike within the hour, whatever its answers are like', async () => {
    const models = new Set<unknown>()
    for (const tokens of [1, 1, 1, 1, 1, 1, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000]) {
      const usage = { prompt_tokens: 10 + (tokens % 7) * 900, completion_tokens: tokens, total_tokens: tokens + 10 }
      rig.upstream.answer({ body: { ...chatAnswer, usage } })
      for (const allow of [['small'], ['mid'], undefined]) {
        const { routing, metadata } = await rig.ask({ ...say('complexity 0.6'), ...(allow && { routing: { allow } }) })
        if (!allow) models.add(JSON.stringify([routing['chosen'], metadata['routing_cost_estimate']]))
      }
    }
    expect([...models]).to.have.length(1)
  })
})
