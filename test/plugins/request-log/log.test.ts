import { expect } from 'chai'
import type { Host, Json, JsonObject, Metered, Outcome, Scope, Usage } from '../../../engine/index.ts'
import log from '../../../plugins/request-log/log.ts'
import price from '../../../plugins/pricing/price.ts'
import type { LogRow } from '../../../plugins/request-log/row.ts'

const USAGE: Usage = { input: 100, cacheRead: 40, cacheWrite: 0, output: 10, reasoning: 5 }
const OUTCOME: Outcome = { status: 200, result: 'completed', firstByte: 12.4, duration: 100.6, bytes: 7 }
const PRICING = { input: 1, output: 2, cache_read: 0.1 }

const MODEL = {
  model: { name: 'small', upstream_model: 'small-2026', pricing: PRICING },
  provider: { name: 'acme' },
  offer: { operation: 'generate', protocol: 'messages' },
  origin: 'acme/small',
}
const REQUEST = { protocol: 'chat', model: 'tiny', stream: true }

function measurementOf(metered: Metered, losses: readonly Json[] = []): object {
  return { read: () => ({ complete: true, losses, ...metered }) }
}

const warnings: string[] = []

interface Given {
  readonly notes?: ReadonlyMap<string, Json>
  readonly times?: Scope['times']
  readonly laps?: Scope['laps']
  readonly attempt?: number
}

function rowOf(slots: object, { notes = new Map(), times = [], laps = [], attempt = 1 }: Given = {}): LogRow {
  const rows: LogRow[] = []
  const host = {
    pipeline: { name: 'p', protocol: 'chat' },
    log: { warn: (fields: { err: Error }) => warnings.push(fields.err.message) },
  } as unknown as Host
  const requests = { logging: { headers: [], client_address: false }, write: (row: LogRow) => void rows.push(row) }
  const members = { find: (id: string) => (id === 'm-1' ? { username: 'ann' } : undefined) }
  const scope = { id: 'id-1', attempt, notes, times, laps, elapsed: () => 100 } as unknown as Scope
  const given = { outcome: OUTCOME, ...slots }
  const bill = billOf(given, scope)
  expect(log.build({ type: 'chat' }, host, { requests, members })({ ...bill, ...given }, scope)).to.deep.equal({})
  expect(rows).to.have.length(1)
  return rows[0] as LogRow
}

/** What `price` gives; nothing where it fails. */
function billOf(slots: object, scope: Scope): object {
  try {
    return price.build({ tokens: 'all' }, {} as Host)(slots, scope)
  } catch {
    return {} // The answer cannot be metered.
  }
}

describe('plugins/request-log/log', () => {
  it('needs only the outcome', () => {
    expect(log).to.deep.include({ name: 'log', needs: ['outcome'], provides: [] })
  })

  it('tells a served exchange whole', () => {
    const before = Date.now()
    const stage = { name: 'parse', path: 'parse', inTry: false }
    const lap = { stage, at: 0, milliseconds: 0.12345, outcome: 'ok' } as const
    const row = rowOf(
      {
        ingress: { headers: { 'x-request-id': 'client_1.A-b' } },
        principal: { kind: 'key' as const, id: 'k-1', name: 'app' },
        request: REQUEST,
        model: MODEL,
        upstream: { losses: [{ field: 'seed', because: 'messages has no seed' }] },
        measurement: measurementOf({ usage: USAGE, stop: 'end', id: 'up-1', model: 'small-2026' }, [
          { field: 'logprobs', because: 'none' },
        ]),
      },
      {
        notes: new Map<string, Json>([
          ['routing_tier', 'SIMPLE'],
          ['routing', { actual: { savings: -0.00025 } }],
        ]),
        times: [{ name: 'parse', milliseconds: 0.12345 }],
        laps: [lap],
        attempt: 2,
      },
    )
    expect(row.at).to.be.within(before - 100, Date.now() - 100)
    expect(row.ended).to.be.within(before, Date.now())
    expect({ ...row, at: 0, ended: 0 }).to.deep.equal({
      id: 'id-1',
      at: 0,
      ended: 0,
      type: 'chat',
      keyId: 'k-1',
      keyName: 'app',
      memberId: null,
      memberName: null,
      requested: 'tiny',
      model: 'small',
      provider: 'acme',
      protocol: 'chat',
      upstreamProtocol: 'messages',
      stream: true,
      status: 200,
      result: 'completed',
      error: null,
      attempts: 2,
      inputTokens: 100,
      cacheReadTokens: 40,
      cacheWriteTokens: 0,
      outputTokens: 10,
      reasoningTokens: 5,
      costMicros: 134,
      savingsMicros: -250,
      firstByte: 12,
      duration: 101,
      reference: 'client_1.A-b',
      parent: null,
      tier: 'SIMPLE',
      failedProviders: undefined,
      guarded: null,
      traceId: null,
      tags: undefined,
      pipeline: 'p',
      laps: [lap],
      metadata: {
        routing_tier: 'SIMPLE',
        routing: { actual: { savings: -0.00025 } },
        times: { parse: 0.123 },
        losses: [
          { field: 'seed', because: 'messages has no seed' },
          { field: 'logprobs', because: 'none' },
        ],
        stop: 'end',
        upstream_id: 'up-1',
        upstream_model: 'small-2026',
      },
    })
  })

  it('names the member who owns the key, or who sent the request', () => {
    const key = { kind: 'key', id: 'k-1', name: 'app', tags: { team: 'a' } }
    const memberOf = (principal: object) => {
      const { keyId, memberId, memberName, tags } = rowOf({ principal })
      return { keyId, memberId, memberName, tags }
    }
    const ofKey = { keyId: 'k-1', tags: { team: 'a' } }
    expect(memberOf({ ...key, owner: 'm-1' })).to.deep.equal({ ...ofKey, memberId: 'm-1', memberName: 'ann' })
    expect(memberOf({ ...key, owner: 'gone' })).to.deep.equal({ ...ofKey, memberId: 'gone', memberName: null })
    expect(memberOf(key)).to.deep.equal({ ...ofKey, memberId: null, memberName: null })
    expect(memberOf({ kind: 'member', id: 'm-2', name: 'bob' })).to.deep.equal({
      keyId: null,
      memberId: 'm-2',
      memberName: 'bob',
      tags: undefined,
    })
  })

  it('costs nothing when no provider was asked', () => {
    const error = { code: 'invalid_api_key', message: 'words', at: 'pipelines/chat.yaml:5:5 (auth)' }
    const row = rowOf({ outcome: { status: 401, result: 'failed', error, duration: 1, bytes: 0 } })
    expect(row).to.deep.include({
      keyId: null,
      requested: null,
      model: null,
      provider: null,
      protocol: 'chat',
      upstreamProtocol: null,
      stream: false,
      status: 401,
      result: 'refused',
      error: 'invalid_api_key',
      attempts: 0,
      inputTokens: 0,
      outputTokens: 0,
      costMicros: 0,
      savingsMicros: null,
      firstByte: null,
      reference: null,
      parent: null,
      metadata: { times: {}, error_message: 'words', error_at: 'pipelines/chat.yaml:5:5 (auth)' },
    })
  })

  it('names the last provider that was tried when none served, its usage unknown', () => {
    const tries = [
      { model: 'small', provider: 'acme', code: 'upstream_error' },
      { model: 'large', provider: 'other', code: 'upstream_timeout' },
    ]
    const failed = {
      status: 504,
      result: 'failed',
      error: { code: 'upstream_timeout', message: '' },
      duration: 1,
      bytes: 0,
    }
    const bill = { tokens: undefined, cost: { micros: undefined, origin: 'unknown' } }
    const row = rowOf(
      { outcome: failed, request: REQUEST, bill },
      { notes: new Map([['tries', tries]]), times: [{ name: 'upstream', milliseconds: 5 }], attempt: 2 },
    )
    expect(row).to.deep.include({
      model: 'large',
      provider: 'other',
      failedProviders: ['acme', 'other'],
      attempts: 2,
      error: 'upstream_timeout',
      inputTokens: null,
      costMicros: null,
      result: 'failed',
      metadata: { tries, times: { upstream: 5 }, usage: 'unknown', cost: 'unknown', error_message: '' },
    })
  })

  it('names the providers that failed, not those that were not asked or answered a mistake, nor the gateway itself', () => {
    const failedBy = (tries: readonly JsonObject[], error?: string) => {
      const outcome = { status: 200, result: error ? 'failed' : 'completed', duration: 1, bytes: 0 }
      const asked = { request: REQUEST, outcome: { ...outcome, ...(error && { error: { code: error, message: '' } }) } }
      const notes = new Map<string, Json>(tries.length === 0 ? [] : [['tries', tries]])
      return rowOf({ ...asked, model: MODEL }, { notes, times: [], attempt: tries.length + 1 }).failedProviders
    }
    const at = (provider: string, code: string, status?: number) => ({
      model: 'm',
      provider,
      code,
      ...(status && { status }),
    })
    expect(failedBy([])).to.equal(undefined)
    expect(
      failedBy([at('a', 'upstream_error', 503), at('a', 'upstream_timeout'), at('b', 'upstream_unreachable')]),
    ).to.deep.equal(['a', 'b'])
    expect(failedBy([at('a', 'rate_limit_exceeded', 429), at('b', 'upstream_refused_key', 401)])).to.deep.equal([
      'a',
      'b',
    ])
    expect(failedBy([at('a', 'breaker_open'), at('b', 'client_closed'), at('c', 'internal_error')])).to.equal(undefined)
    expect(failedBy([at('a', 'invalid_request_error', 400)])).to.equal(undefined)
    expect(failedBy([], 'upstream_error')).to.deep.equal(['acme'])
    expect(failedBy([], 'internal_error')).to.equal(undefined)
  })

  it('marks usage that is missing or makes no sense as unknown', () => {
    const strange = { ...USAGE, output: -1 }
    for (const measurement of [
      undefined,
      measurementOf({}),
      measurementOf({ usage: strange }),
      measurementOf({ usage: { ...USAGE, input: Number.NaN } }),
    ]) {
      const row = rowOf({ model: MODEL, ...(measurement === undefined ? {} : { measurement }) })
      expect(row).to.include({ inputTokens: null, outputTokens: null, reasoningTokens: null, costMicros: null })
      expect(row.metadata).to.deep.equal({ times: {}, usage: 'unknown', cost: 'unknown' })
    }
  })

  it('marks a cost without a price as unknown, its tokens known', () => {
    const row = rowOf({ model: { ...MODEL, model: { name: 'small' } }, measurement: measurementOf({ usage: USAGE }) })
    expect(row).to.include({ inputTokens: 100, costMicros: null })
    expect(row.metadata).to.deep.equal({ times: {}, cost: 'unknown' })
  })

  it('writes the row even when the answer cannot be metered', () => {
    const measurement = {
      read: () => {
        throw new Error('broken')
      },
    }
    warnings.length = 0
    expect(rowOf({ model: MODEL, measurement }).metadata).to.deep.equal({
      times: {},
      usage: 'unknown',
      cost: 'unknown',
    })
    expect(warnings).to.deep.equal(['broken'])
  })

  it('tells what was used beside tokens', () => {
    const metered = { units: { seconds: 2.5 } }
    const model = { ...MODEL, model: { name: 'whisper', pricing: { seconds: 0.0001 } } }
    const row = rowOf({ model, measurement: measurementOf(metered) })
    expect(row).to.include({ inputTokens: null, costMicros: 250 })
    expect(row.metadata).to.deep.equal({ times: {}, usage: 'unknown', units: { seconds: 2.5 } })
  })

  it('tells when the client left', () => {
    const outcome = { status: 200, result: 'client_closed', duration: 3, bytes: 1 }
    expect(rowOf({ outcome, model: MODEL })).to.include({ result: 'client_closed', status: 200, error: null })
  })

  it('keeps a reference only when it is harmless', () => {
    const referenceOf = (id: string | string[]): string | null =>
      rowOf({ ingress: { headers: { 'x-request-id': id } } }).reference
    expect(referenceOf('a'.repeat(128))).to.equal('a'.repeat(128))
    for (const id of ['', 'a'.repeat(129), 'a b', 'a\nb', '<b>', 'ä', ['a', 'b']])
      expect(referenceOf(id), String(id)).to.equal(null)
  })

  it('lets no note stand in for its own fields, nor reach a prototype', () => {
    const notes = new Map<string, Json>([
      ['usage', 'mine'],
      ['times', 'mine'],
      ['__proto__', { polluted: true }],
    ])
    const { metadata } = rowOf({ model: MODEL }, { notes })
    expect(metadata).to.include({ usage: 'unknown' }).and.to.have.deep.property('times', {})
    expect(Object.getPrototypeOf(metadata)).to.equal(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined)
  })

  it('cuts a model name of any length', () => {
    expect(rowOf({ request: { ...REQUEST, model: 'x'.repeat(100_000) } }).requested).to.have.length(256)
  })
})
