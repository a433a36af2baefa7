// Its codes are known where it is imported.
import '../../../../plugins/responses/error-codes.ts'
import type { JsonObject, KeyValue, Services } from '../../../../engine/index.ts'
import type { WholeResponse } from '../../../../plugins/responses/stored/record.ts'

/** A key-value store in memory that remembers what it was asked to write. */
export function memory() {
  const values = new Map<string, { value: Buffer; version: string }>()
  const writes: { key: string; ttl: number; version: string | null | undefined }[] = []
  const reads: string[] = []
  let count = 0
  const keyValue: KeyValue = {
    shared: false,
    get(key) {
      reads.push(key)
      return Promise.resolve(values.get(key))
    },
    set(key, value, { ttl, version }) {
      writes.push({ key, ttl, version })
      if (version !== undefined && (values.get(key)?.version ?? null) !== version) return Promise.resolve(false)
      values.set(key, { value: Buffer.from(value), version: String(++count) })
      return Promise.resolve(true)
    },
    extend: (key) => Promise.resolve(values.has(key)),
    delete: (key) => Promise.resolve(values.delete(key)),
    used: () => Promise.resolve({ count: 0, bytes: 0 }),
  }
  return { keyValue, values, writes, reads }
}

/** A host's `keep` that keeps nothing. */
export const made = <T>(_: string, make: () => T): T => make()

export const said = (text: string, id = 'msg_1'): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

/** No guard has put tokens into any answer. */
export const unguarded = {
  guards: { sealedTokens: () => undefined, recallTokens: () => undefined } as unknown as Services['guards'],
}

/** A record with one answer. */
export function recordWith(fields: Partial<WholeResponse> = {}): WholeResponse {
  return {
    keyId: 'key-a',
    response: { id: 'resp_1', object: 'response', status: 'completed', output: [said('Hello')] },
    before: [],
    input: [],
    background: false,
    origin: 'acme/think',
    held: false,
    partial: false,
    ...fields,
  }
}
