import { expect } from 'chai'
import type { Json } from '../../../engine/index.ts'
import fitsSchema from '../../../plugins/routing/fits-schema.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { say, startRouting } from '../core/rig.ts'
import type { Routing } from '../core/rig.ts'
import type { Script } from '../../support/upstream.ts'

const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
const demand = (given: object = schema) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'counted', schema: given } },
})
const says = (content: string, finish_reason = 'stop') => ({
  body: { ...chatAnswer, choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] },
})

describe('a schema that a client demands', () => {
  let rig: Routing
  beforeEach(async () => {
    const server_config = { logging: { level: 'debug' } }
    rig = await startRouting({ routing: { experience: { implicit: true } }, server_config })
  })
  afterEach(() => rig.close())

  const rewards = () =>
    tablesOf(rig.gateway.engine.database).selectFrom('experience_rewards').selectAll().orderBy('at').execute()
  /** Asks a question of its own, so that no other one is repeated. */
  const ask = async (script: Script, body: object) => {
    rig.upstream.answer(script)
    const messages = say(`Question ${rig.upstream.requests.length}`)
    const answer = await rig.gateway.post('/v1/chat/completions', { ...messages, ...body })
    await answer.text()
    return answer.status
  }
  /** Asks until the answer was compared: a comparison that a slow machine ends late teaches nothing. */
  const compared = async (script: Script, body: object) => {
    const late = () => rig.gateway.lines.filter((line) => line.includes('could not be compared')).length
    const before = (await rewards()).length
    const taught = async () => (await rewards()).length > before
    let status
    do {
      const missed = late()
      status = await ask(script, body)
      await until(async () => late() > missed || (await taught()))
    } while (!(await taught()))
    return status
  }

  it('teaches whether the model keeps to it', async () => {
    const answers = ['{"count":1}', '{"count":"one"}', 'Sure! {"count":1}']
    for (const content of answers) await compared(says(content), demand())
    const rows = await rewards()
    expect(rows.map(({ reward }) => reward)).to.deep.equal([1, 0, 0])
    for (const row of rows)
      expect(row).to.include({ source: 'implicit:schema', model: 'mid', mode: 'auto', tier: 'MEDIUM', weight: 0.25 })
  })

  it('teaches nothing of streams, other answers, answers that were cut, and schemas that are none', async () => {
    const asked = [
      await ask({ frames: chatFrames('{"count":1}') }, { ...demand(), stream: true }),
      await ask(says('{"count":1}'), {}),
      await ask(says('{"count":1}'), { response_format: { type: 'json_object' } }),
      await ask(says('{"count":', 'length'), demand()),
      await ask(says('{"count":1}'), demand({ $ref: 'https://example.com/schema' })),
      await compared(says('{"count":2}'), demand()),
    ]
    expect(asked).to.deep.equal([200, 200, 200, 200, 200, 200])
    expect((await rewards()).map(({ reward }) => reward)).to.deep.equal([1])
  })

  it('is compared as JSON Schema says', () => {
    const fits = (value: Json, given: object = schema) => fitsSchema({ schema: { ...given }, value })
    expect(fits({ count: 3, more: true })).to.equal(true)
    expect(fits({ count: 3, more: true }, { ...schema, additionalProperties: false })).to.equal(false)
    expect(fits([])).to.equal(false)
    expect(fits({}, { $ref: 'https://example.com/schema' })).to.equal(undefined)
  })
})
