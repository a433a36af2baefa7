import { expect } from 'chai'
import * as fc from 'fast-check'
import type { JsonObject, KeyValue } from '../../../../engine/index.ts'
import {
  deleteResponse,
  earlierOf,
  linked,
  longestChain,
  readWhole,
} from '../../../../plugins/responses/stored/chain.ts'
import { conversationOf } from '../../../../plugins/responses/stored/conversation.ts'
import { findResponse, lifetime, writeResponse } from '../../../../plugins/responses/stored/record.ts'
import type { WholeResponse } from '../../../../plugins/responses/stored/record.ts'
import { compress } from '../../../../plugins/responses/stored/zstd.ts'
import { recordWith, said } from './kept.ts'

/** A key-value store with a clock of its own: what it keeps expires as that says. */
class Clocked implements KeyValue {
  readonly shared = false
  readonly values = new Map<string, { value: Buffer; version: string; until: number }>()
  #writes = 0

  #living(key: string) {
    const held = this.values.get(key)
    if (held && held.until > Date.now()) return held
    this.values.delete(key)
    return undefined
  }

  async get(key: string) {
    return this.#living(key)
  }

  async set(key: string, value: Uint8Array, { ttl, version }: { ttl: number; version?: string | null }) {
    if (version !== undefined && (this.#living(key)?.version ?? null) !== version) return false
    this.values.set(key, { value: Buffer.from(value), version: String(++this.#writes), until: Date.now() + ttl })
    return true
  }

  async extend(key: string, ttl: number) {
    const held = this.#living(key)
    if (held) held.until = Math.max(held.until, Date.now() + ttl)
    return held !== undefined
  }

  async delete(key: string) {
    return this.#living(key) !== undefined && this.values.delete(key)
  }

  async used() {
    return { count: 0, bytes: 0 }
  }

  get bytes(): number {
    return [...this.values.keys()].reduce((sum, key) => sum + (this.#living(key)?.value.length ?? 0), 0)
  }

  /** The responses of which anything is left. */
  get turns(): readonly string[] {
    return [...this.values.keys()].filter((key) => key.startsWith('response:') && this.#living(key))
  }
}

const asking = (text: string): JsonObject => ({ id: `in_${text}`, type: 'message', role: 'user', content: text })

/** A response that says `text`, after `previous` where there is one. */
function turn(id: string, text: string, previous?: WholeResponse): WholeResponse {
  return recordWith({
    response: { id, object: 'response', status: 'completed', output: [said(`A: ${text}`, `out_${id}`)] },
    input: [asking(text)],
    ...(previous ? { before: conversationOf(previous), earlier: earlierOf(previous) } : {}),
  })
}

describe('the turns of a conversation', () => {
  let now: number
  const clock = Date.now
  beforeEach(() => {
    now = 1_800_000_000_000
    Date.now = () => now
  })
  afterEach(() => void (Date.now = clock))

  const add = async (store: KeyValue, record: WholeResponse) => {
    const written = await linked(store, record)
    expect(await writeResponse(store, written, { version: null })).to.equal(undefined)
    return written
  }
  /** As a later request finds it. */
  const find = async (store: KeyValue, id: string) => {
    const found = await findResponse(store, id, 'key-a')
    return found && readWhole(store, found.record)
  }
  const remove = async (store: KeyValue, id: string) => {
    const found = await findResponse(store, id, 'key-a')
    expect(found && (await deleteResponse(store, found))).to.equal(true)
  }

  it('are kept once each', async () => {
    const store = new Clocked()
    let previous: WholeResponse | undefined
    const noise = (index: number) =>
      Array.from({ length: 600 }, (_, at) => ((index * 7919 + at * 104_729) % 99_991).toString(36)).join('')
    const sizes: number[] = []
    for (let index = 0; index < 60; index += 1) {
      await add(store, turn(`resp_${index}`, noise(index), previous))
      previous = await find(store, `resp_${index}`)
      sizes.push(store.bytes)
    }
    expect(previous?.before).to.have.length(118)
    // The last turn takes up hardly more than an early one: its own text, and the ids of those before it.
    expect((sizes[59] ?? 0) - (sizes[58] ?? 0)).to.be.below(2 * ((sizes[1] ?? 0) - (sizes[0] ?? 0)))
  })

  it('begin anew, with all of it, after very many', async () => {
    const store = new Clocked()
    let previous: WholeResponse | undefined
    const links: number[] = []
    for (let index = 0; index < longestChain + 3; index += 1) {
      links.push((await add(store, turn(`resp_${index}`, `${index}`, previous))).earlier?.ids.length ?? 0)
      previous = await find(store, `resp_${index}`)
      expect(previous && conversationOf(previous)).to.have.length(2 * index + 2)
    }
    expect(links.slice(-3)).to.deep.equal([longestChain, 0, 1])
  })

  it('of a response that was deleted stay for those that continue it, and go with the last of them', async () => {
    const store = new Clocked()
    await add(store, turn('resp_a', 'a'))
    await add(store, turn('resp_b', 'b', await find(store, 'resp_a')))
    await add(store, turn('resp_c', 'c', await find(store, 'resp_b')))
    await remove(store, 'resp_b')
    await remove(store, 'resp_a')
    expect([await find(store, 'resp_a'), await find(store, 'resp_b')]).to.deep.equal([undefined, undefined])
    const before = (await find(store, 'resp_c'))?.before.map(({ id }) => id)
    expect(before).to.deep.equal(['in_a', 'out_resp_a', 'in_b', 'out_resp_b'])
    await remove(store, 'resp_c')
    expect(store.turns).to.deep.equal([])
  })

  it('of a response that is being deleted are written with the one that continues it', async () => {
    const store = new Clocked()
    await add(store, turn('resp_a', 'a'))
    const late = turn('resp_b', 'b', await find(store, 'resp_a'))
    await remove(store, 'resp_a')
    expect((await add(store, late)).earlier).to.equal(undefined)
    expect((await find(store, 'resp_b'))?.before).to.deep.equal([])
    expect((await find(store, 'resp_b'))?.input.map(({ id }) => id)).to.deep.equal(['in_a', 'out_resp_a', 'in_b'])
  })

  it("of another key are nobody else's", async () => {
    const store = new Clocked()
    await add(store, turn('resp_a', 'a'))
    const child = await add(store, turn('resp_b', 'b', await find(store, 'resp_a')))
    expect(await readWhole(store, { ...child, keyId: 'key-b' })).to.equal(undefined)
  })

  it('that an older version has written are read', async () => {
    const store = new Clocked()
    const { before: _, ...old } = recordWith({ input: [asking('one'), said('two', 'm')] })
    await store.set('response:resp_1', await compress(Buffer.from(JSON.stringify(old))), { ttl: lifetime })
    const whole = await find(store, 'resp_1')
    expect(whole && conversationOf(whole).map(({ id }) => id)).to.deep.equal(['in_one', 'm', 'msg_1'])
    await add(store, turn('resp_2', 'three', whole))
    expect((await find(store, 'resp_2'))?.before.map(({ id }) => id)).to.deep.equal(['in_one', 'm', 'msg_1'])
  })

  it('are what they were in any tree, whatever is deleted and expires', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), at: fc.nat(40) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat(40) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), at: fc.integer({ min: 1, max: 30 }) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        now = 1_800_000_000_000
        const store = new Clocked()
        /** What each response that is there has to say, and until when. */
        const model = new Map<string, { readonly said: readonly string[]; readonly until: number }>()
        const living = () => [...model].filter(([, { until }]) => until > now)
        let count = 0
        for (const { kind, at } of steps) {
          const there = living()
          const [id, known] = there[at % Math.max(1, there.length)] ?? []
          if (kind === 'wait') now += at * 60 * 60 * 1000
          else if (kind === 'delete' && id !== undefined) {
            await remove(store, id)
            model.delete(id)
          } else if (kind === 'add') {
            const name = `resp_${count++}`
            // Every third one begins a conversation.
            const previous = id === undefined || at % 3 === 0 ? undefined : await find(store, id)
            await add(store, turn(name, name, previous))
            const before = previous ? (known?.said ?? []) : []
            model.set(name, { said: [...before, `in_${name}`, `out_${name}`], until: now + lifetime })
          }
          for (const [name, { said }] of living()) {
            const whole = await find(store, name)
            expect(whole && conversationOf(whole).map((item) => item['id']), name).to.deep.equal(said)
          }
        }
        for (const [name] of living()) await remove(store, name)
        now += 4 * lifetime
        expect(store.turns).to.deep.equal([])
      }),
      { numRuns: 150 },
    )
  })

  it('that are all deleted leave nothing, in whatever order', async () => {
    const tree = fc.array(fc.nat(20), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(tree, fc.infiniteStream(fc.nat(1000)), async (parents, order) => {
        const store = new Clocked()
        const ids = parents.map((_, index) => `resp_${index}`)
        for (const [index, parent] of parents.entries())
          await add(
            store,
            turn(`resp_${index}`, `${index}`, index === 0 ? undefined : await find(store, `resp_${parent % index}`)),
          )
        const left = [...ids]
        while (left.length > 0) {
          const [id = ''] = left.splice((order.next().value ?? 0) % left.length, 1)
          await remove(store, id)
        }
        expect(store.turns).to.deep.equal([])
      }),
      { numRuns: 60 },
    )
  })
})
