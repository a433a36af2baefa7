import { readFile } from 'node:fs/promises'
import { defineAction, GatewayError } from '../../engine/index.ts'
import type { Host, Json, JsonObject, RecordChange, RecordLookup, Scope, ShownRecord } from '../../engine/index.ts'
import { parsedJson, readPublic, shape, timeText } from '../../engine/kit.ts'
import type { FindListed } from './match-listed.ts'
import { readPriceList } from './price-list.ts'
import { differences, patchOf } from './sync-diff.ts'
import type { Action, Difference } from './sync-diff.ts'
import { syncedIn } from './synced.ts'

const actions: readonly Action[] = ['set', 'change', 'keep_hand', 'same', 'refused', 'unmatched']

const difference = shape.object({
  model: shape.text('Name of the model.'),
  field: shape.orNull(shape.text('The field, such as pricing.input; null: the list does not know the model.')),
  old: shape.json('Its value.'),
  new: shape.json('The value of the list.'),
  ratio: shape.orNull(shape.number('New by old; null: there is nothing to compare with.')),
  action: shape.word(actions, 'What becomes of it.'),
})

/**
 * Compares the prices, or the limits and abilities, of models with a public list, and takes them over if the body says
 * so. What a person set is kept, and so is what the file declares.
 */
export const syncModels = (what: 'pricing' | 'metadata') =>
  defineAction({
    name: `sync-${what}`,
    summary: `Compare the ${what === 'pricing' ? 'prices' : 'limits and abilities'} of models with a public list, and take them over.`,
    route: `POST /api/config/models/sync-${what}`,
    access: { role: 'admin' },
    body: {
      type: 'object',
      additionalProperties: false,
      properties: {
        url: { type: 'string', maxLength: 2_048, description: 'Address of the list.' },
        data: {
          type: 'object',
          examples: [{ 'my-model': { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 } }],
          description: 'The list itself.',
        },
        models: {
          type: 'array',
          maxItems: 10_000,
          items: { type: 'string', maxLength: 256 },
          description: 'Names of the models to compare; default: all.',
        },
        apply: { type: 'boolean', default: false, description: 'Whether to take over what differs.' },
        force: {
          type: 'boolean',
          default: false,
          description: 'Whether to take over prices that differ more than tenfold.',
        },
      },
    },
    bodyLimit: listLimit,
    answer: shape.object({
      source: shape.text('Where the list is from.'),
      fetched_at: shape.time('When it was read.'),
      data: shape.list(difference, 'How the models differ from it.'),
      applied: shape.flag('Whether it was taken over.'),
      counts: shape.map({ type: 'integer' }, 'How many fields each action has.'),
    }),
    errors: [
      'invalid_configuration',
      'invalid_reference',
      'private_address',
      'sync_refused',
      'upstream_error',
      'upstream_timeout',
      'upstream_unreachable',
    ],
    writes: 'own audit row',
    uses: ['audit', 'price_lists'],
    async run({ body, by }, { audit, price_lists: lists }, scope, host) {
      const { url, data, models: wanted, apply, force } = body
      if (url !== undefined && data !== undefined)
        throw new GatewayError('invalid_field', { param: 'data', reason: 'cannot stand beside url' }, { param: 'data' })
      refuseUnknown(wanted, host.records)
      const read = await ((): Promise<ReadList> | ReadList => {
        if (data !== undefined) return { source: 'data', value: data as Json }
        if (url !== undefined) return readAddress(url, 'url', host, scope)
        const { source } = host.catalog
        if (source !== undefined) return readConfigured(source, host, scope)
        const message = 'url or data is missing, and the configuration file has no catalog.source.'
        throw new GatewayError('missing_field', { param: 'url' }, { param: 'url', message })
      })()
      const entries = await readPriceList(read.value ?? null)
      if (entries === undefined) {
        const param = data === undefined ? 'url' : 'data'
        const reason = 'is not a list of prices in one of the two known shapes'
        throw new GatewayError('invalid_field', { param, reason }, { param })
      }
      const find = await lists.keep(entries)
      const compare = (records: RecordLookup) => comparison(records, wanted, { what, find, force })
      let found = compare(host.records)
      if (apply) {
        await host.records.changeAll(
          (records) => {
            found = compare(records)
            refuseRefused(found)
            return changesOf(found, records)
          },
          by,
          (transaction) =>
            audit.append(transaction, {
              action: `model.sync_${what}`,
              by,
              details: { source: read.source, counts: countsOf(found), forced: force },
            }),
        )
      }
      return {
        source: read.source,
        fetched_at: timeText(Date.now()),
        data: found.map((one) => ({ ...one })),
        applied: apply,
        counts: countsOf(found),
      }
    },
  })

function refuseUnknown(wanted: readonly string[] | undefined, records: RecordLookup): void {
  const at = (wanted ?? []).findIndex((name) => records.find('model', name) === undefined)
  if (at < 0) return
  const param = `models[${at}]`
  throw new GatewayError('invalid_reference', { param, reason: 'is no model' }, { param })
}

function comparison(
  records: RecordLookup,
  wanted: readonly string[] | undefined,
  { what, find, force }: { readonly what: 'pricing' | 'metadata'; readonly find: FindListed; readonly force: boolean },
): readonly Difference[] {
  const isWanted = ({ name }: ShownRecord) => wanted === undefined || wanted.includes(name)
  const providers = new Map(records.of('provider').map(({ name, value }) => [name, value]))
  return differences(records.of('model').filter(isWanted), what, find, providers, force)
}

function refuseRefused(found: readonly Difference[]): void {
  const refused = found.filter(({ action }) => action === 'refused')
  if (refused.length === 0) return
  const names = [...new Set(refused.map(({ model }) => model))].slice(0, 10).join(', ')
  const reason = `The prices of ${names} differ more than tenfold; look at them, and send force to take them over.`
  throw new GatewayError('sync_refused', { reason })
}

function changesOf(found: readonly Difference[], records: RecordLookup): RecordChange[] {
  const taken = found.filter(({ action }) => action === 'set' || action === 'change')
  return [...Map.groupBy(taken, ({ model }) => model)].map(([name, own]) => {
    const { notes = {} } = records.find('model', name) ?? {}
    const synced = { ...syncedIn(notes), ...Object.fromEntries(own.map((one) => [one.field ?? '', one.new])) }
    const isPriced = own.some(({ field }) => field?.startsWith('pricing.'))
    return {
      kind: 'change',
      type: 'model',
      name,
      patch: patchOf(own),
      notes: { ...notes, synced, ...(isPriced ? { priced_at: Date.now() } : {}) },
    }
  })
}

function countsOf(found: readonly Difference[]): JsonObject {
  return Object.fromEntries(actions.map((word) => [word, found.filter(({ action }) => action === word).length]))
}

/** Maximum bytes of a list, and milliseconds for reading it from an address. */
const listLimit = 20 * 1024 * 1024
const deadline = 10_000

/** A list as it was read, and where it is from. */
interface ReadList {
  readonly source: string
  /** Undefined: it is not JSON. */
  readonly value: Json | undefined
}

/** Reads a list from an address. */
async function readAddress(text: string, param: string, host: Host, scope: Scope): Promise<ReadList> {
  const bytes = await readPublic(text, { param, what: 'the list of prices', limit: listLimit, deadline }, host, scope)
  return { source: new URL(text).href, value: parsedJson(bytes.toString()) }
}

/** Reads the list that the configuration file names. */
async function readConfigured(source: string, host: Host, scope: Scope): Promise<ReadList> {
  if (URL.canParse(source)) return readAddress(source, 'catalog.source', host, scope)
  try {
    return { source: 'catalog.source', value: parsedJson(await readFile(source, 'utf8')) }
  } catch (cause) {
    const message = 'The file that the configuration names in catalog.source cannot be read.'
    throw new GatewayError('invalid_field', { param: 'catalog.source' }, { param: 'catalog.source', message, cause })
  }
}
