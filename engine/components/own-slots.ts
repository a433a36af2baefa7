import type { JSONSchema } from 'json-schema-to-ts'
import { defineSlot } from '../spec/slot.ts'
import type { AnySlot, SlotField, SlotFields } from '../spec/slot.ts'

/**
 * The engine's own slots; their types are in `Slots`.
 * @param model JSON Schema of model records, whose fields conditions can read; unset: any field
 */
export function ownSlots(model?: JSONSchema): readonly AnySlot[] {
  const record = model === undefined ? 'anything' : fieldsOf((model as Property).properties)
  return [...plainSlots, ...modelSlots(record)]
}

function modelSlots(record: SlotField): readonly AnySlot[] {
  const candidate: SlotFields = {
    model: record,
    provider: { name: 'text', type: 'text', off: 'text' },
    offer: { operation: 'text', protocol: 'text', traits: 'anything' },
    origin: 'text',
  }
  return [
    defineSlot({
      name: 'target',
      summary: 'The model or models that the requested name resolves to.',
      fields: { name: 'text', model: record, virtual: 'boolean', mode: 'text' },
    }),
    defineSlot({
      name: 'candidates',
      summary: 'The models that may serve the request, each at its provider, in the order in which they are tried.',
      fields: candidate,
      candidates: true,
    }),
    defineSlot({ name: 'model', summary: 'The candidate that is tried.', fields: candidate }),
  ]
}

const plainSlots: readonly AnySlot[] = [
  defineSlot({
    name: 'ingress',
    summary: 'The request as it arrived.',
    fields: {
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      path: 'text',
      params: 'texts',
      headers: 'headers',
      transport: ['http', 'ws'],
      remote: 'text',
      message: 'anything',
    },
  }),
  defineSlot({
    name: 'job',
    summary: 'A job that no client waits for.',
    fields: { id: 'text', input: 'anything' },
  }),
  defineSlot({
    name: 'principal',
    summary: 'The authenticated client.',
    fields: { kind: ['key', 'member'], id: 'text', name: 'text', role: 'text', models: 'list' },
  }),
  defineSlot({
    name: 'request',
    summary: 'The parsed request.',
    fields: {
      operation: 'text',
      protocol: 'text',
      model: 'text',
      stream: 'boolean',
      background: 'boolean',
      contentType: 'text',
      headers: 'headers',
      body: 'anything',
      sent: 'anything',
      exact: 'boolean',
    },
  }),
  defineSlot({
    name: 'upstream',
    summary: 'The request as the provider will get it.',
    fields: { same: 'boolean', contentType: 'text' },
  }),
  defineSlot({
    name: 'answer',
    summary: "The provider's answer, once it has begun.",
    fields: { operation: 'text', kind: 'text', type: 'text', body: 'anything' },
  }),
  defineSlot({
    name: 'reply',
    summary: 'The reply to the client.',
    fields: { status: 'number', headers: 'headers', body: { kind: 'text', type: 'text', value: 'anything' } },
  }),
  defineSlot({ name: 'measurement', summary: 'Facts about the answer, known once it has been sent.' }),
  defineSlot({
    name: 'outcome',
    summary: 'How the exchange ended; available only in "finally".',
    fields: {
      status: 'number',
      result: ['completed', 'failed', 'client_closed'],
      error: { code: 'text', message: 'text', at: 'text' },
      firstByte: 'number',
      duration: 'number',
      bytes: 'number',
    },
  }),
  defineSlot({
    name: 'bill',
    summary: 'The usage of the exchange, and its cost.',
    fields: {
      tokens: {
        input: 'number',
        cacheRead: 'number',
        cacheWrite: 'number',
        cacheWriteHour: 'number',
        inputAudio: 'number',
        inputImage: 'number',
        outputAudio: 'number',
        outputImage: 'number',
        output: 'number',
        reasoning: 'number',
        searches: 'number',
      },
      images: 'number',
      characters: 'number',
      seconds: 'number',
      cost: { micros: 'number', origin: 'text' },
    },
  }),
]

interface Property {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Property>>
}

/** The fields of a record according to its schema. */
function fieldsOf(properties: Readonly<Record<string, Property>> = {}): SlotFields {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, properties: inner }]) => [
      name,
      inner
        ? fieldsOf(inner)
        : type === 'string'
          ? 'text'
          : type === 'boolean'
            ? type
            : type === 'array'
              ? 'list'
              : 'number',
    ]),
  )
}
