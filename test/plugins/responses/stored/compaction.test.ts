import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { JsonObject } from '../../../../engine/index.ts'
import { GatewayError } from '../../../../engine/index.ts'
import { openSealing } from '../../../../engine/secrets/sealing.ts'
import {
  contentLimit,
  expandCompactions as expandWithin,
  foreignCompaction,
  sealPack,
} from '../../../../plugins/responses/stored/compaction.ts'
import type { Open } from '../../../../plugins/responses/stored/compaction.ts'
import { Room, conversationLimit } from '../../../../plugins/responses/stored/room.ts'

const sealing = openSealing({
  given: 'a secret of sixteen or more',
  file: '/nowhere',
  protect: () => undefined,
  log: { warn: () => undefined },
})
const seal = (bytes: Uint8Array) => sealing.seal(bytes, 'key a')
const open = (sealed: Uint8Array) => sealing.unseal(sealed, 'key a')

const expandCompactions = (items: readonly JsonObject[], opener: Open, room = new Room(0)) =>
  expandWithin(items, { open: opener, room, tokens: () => undefined })

const user = (text: string, more: object = {}) => ({ role: 'user', content: text, ...more })
const kept = (id: string, text: string) => ({
  id,
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'input_text', text }],
})
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'c1', output: '42' }
const said = { type: 'message', id: 'msg_a', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
const conversation: JsonObject[] = [
  { role: 'developer', content: 'Be brief.' },
  user('one'),
  call,
  output,
  said,
  user('two'),
]
const next = user('three')

async function compaction(items: readonly JsonObject[] = conversation, ids: readonly string[] = ['msg_1', 'msg_2']) {
  return { type: 'compaction', id: 'cmp_1', encrypted_content: await sealPack({ items, kept: ids }, seal) }
}

async function refusal(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(GatewayError)
  return error as GatewayError
}

describe('compactions', () => {
  const base = [kept('msg_1', 'one'), kept('msg_2', 'two')]

  it('leaves a list without any as it is', async () => {
    const items = [user('x'), call]
    expect(await expandCompactions(items, open)).to.equal(items)
    expect(foreignCompaction(items)).to.equal(undefined)
  })

  it('gives back what was compacted, in its order, then what came after', async () => {
    const cmp = await compaction()
    expect(cmp.encrypted_content).to.match(/^gw1c\.[\w-]+$/)
    expect(await expandCompactions([...base, cmp, next], open)).to.deep.equal([...conversation, next])
  })

  it('does so whatever of its base the client has kept, and however it writes it', async () => {
    const cmp = await compaction()
    const bases: JsonObject[][] = [
      [],
      base.slice(1),
      [user('one'), user('two')],
      [user('one', { status: null, phase: null }), { content: [{ text: 'two', type: 'input_text' }], role: 'user' }],
      [kept('msg_1', 'shortened by the client'), kept('msg_2', 'two')],
      conversation,
    ]
    for (const before of bases)
      expect(await expandCompactions([...before, cmp, next], open)).to.deep.equal([...conversation, next])
  })

  it('leaves what the client has put before it', async () => {
    const context = { role: 'developer', content: 'It is Monday.' }
    const twice = [context, ...base, user('one')]
    expect(await expandCompactions([...twice, await compaction(), next], open)).to.deep.equal([
      context,
      user('one'),
      ...conversation,
      next,
    ])
  })

  it('leaves what comes after it, even where it is the same', async () => {
    expect(await expandCompactions([await compaction(), user('one'), said], open)).to.deep.equal([
      ...conversation,
      user('one'),
      said,
    ])
  })

  it('leaves what has no id, whatever ids are in it', async () => {
    const cmp = await compaction([user('one', { id: '' })], [''])
    const monday = user('It is Monday.')
    expect(await expandCompactions([monday, user('one'), user('two', { id: '' }), cmp], open)).to.deep.equal([
      monday,
      user('two', { id: '' }),
      user('one', { id: '' }),
    ])
  })

  it('lets a later one stand for an earlier one', async () => {
    const first = await compaction()
    const longer = await expandCompactions([...base, first, next], open)
    const second = await compaction(longer, ['msg_1', 'msg_2', 'msg_3'])
    const last = user('four')
    expect(await expandCompactions([...base, kept('msg_3', 'three'), second, last], open)).to.deep.equal([
      ...longer,
      last,
    ])
    expect(await expandCompactions([...base, first, next, second, last], open)).to.deep.equal([...longer, last])
  })

  it('refuses what was changed, cut, or sealed for another key, at its place', async () => {
    const cmp = await compaction()
    const content = cmp.encrypted_content
    const others = [
      `${content.slice(0, 40)}${content[40] === 'A' ? 'B' : 'A'}${content.slice(41)}`,
      content.slice(0, -8),
      'gw1c.',
      `${content}${'A'.repeat(contentLimit)}`,
    ]
    for (const encrypted_content of others) {
      const error = await refusal(expandCompactions([next, { ...cmp, encrypted_content }], open))
      expect([error.code, error.failure.status, error.failure.param]).to.deep.equal([
        'invalid_encrypted_content',
        400,
        'input[1].encrypted_content',
      ])
    }
    const foreign = await refusal(expandCompactions([cmp], (sealed) => sealing.unseal(sealed, 'key b')))
    expect(foreign.failure.param).to.equal('input[0].encrypted_content')
  })

  it('leaves those of others in place, and says where the first one is', async () => {
    const foreign = { type: 'compaction', id: 'cmp_x', encrypted_content: 'gAAAAABk' }
    expect(await expandCompactions([foreign, next], open)).to.deep.equal([foreign, next])
    expect(foreignCompaction([next, foreign, foreign])?.failure.param).to.equal('input[1].encrypted_content')
    expect(foreignCompaction([await compaction()])).to.equal(undefined)
  })

  it('holds no more than it could give back', async () => {
    const huge = 'x'.repeat(64 * 1024 * 1024)
    expect((await refusal(sealPack({ items: [user(huge)], kept: [] }, seal))).code).to.equal('request_too_large')
    const noise = randomBytes(8 * 1024 * 1024).toString('base64')
    const error = await refusal(sealPack({ items: [user(noise)], kept: [] }, seal))
    expect([error.code, error.failure.status]).to.deep.equal(['request_too_large', 413])
    const less = await sealPack({ items: [user(noise.slice(0, 10_000_000))], kept: [] }, seal)
    expect(less.length).to.be.within(9_000_000, contentLimit)
    const [item] = await expandCompactions([{ type: 'compaction', encrypted_content: less }], open)
    expect(item?.['content']).to.equal(noise.slice(0, 10_000_000))
  })

  it('has room for so much in one request, however many hold it', async () => {
    const items = [user('x'.repeat(10_000))]
    const [one, other] = [await compaction(items), await compaction(items)]
    const size = Buffer.byteLength(JSON.stringify({ items, kept: ['msg_1', 'msg_2'] }))
    const within = (list: readonly JsonObject[], left: number) =>
      expandCompactions(list, open, new Room(conversationLimit - left))
    expect(await within([one, other], 2 * size)).to.deep.equal(items)
    for (const left of [2 * size - 1, size, size - 1, 0]) {
      const { code, failure } = await refusal(within([one, other], left))
      expect([code, failure.status, failure.param]).to.deep.equal(['request_too_large', 413, 'input'])
    }
  })

  it('unpacks the same one once', async () => {
    const cmp = await compaction()
    let opened = 0
    const counting: Open = (sealed) => {
      opened += 1
      return open(sealed)
    }
    expect(await expandCompactions([cmp, next, cmp, { ...cmp, id: 'cmp_2' }], counting)).to.deep.equal([
      next,
      ...conversation,
    ])
    expect(opened).to.equal(1)
  })

  it('takes only some of them in one request', async () => {
    const cmp = await compaction()
    const times = (count: number) => Array.from({ length: count }, () => cmp)
    expect(await expandCompactions(times(32), open)).to.deep.equal(conversation)
    const { code, failure } = await refusal(expandCompactions(times(33), open))
    expect([code, failure.param]).to.deep.equal(['invalid_value', 'input'])
  })

  it('opens one in a long list without copying it for each item', async function () {
    // Copied each time, it would take minutes.
    const many = Array.from({ length: 300_000 }, (_, index) => user(`message ${index}`))
    const expanded = await expandCompactions([await compaction(), ...many], open)
    expect(expanded).to.have.length(conversation.length + many.length)
  })
})
