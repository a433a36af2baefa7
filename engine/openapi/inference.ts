import { speaksToClients, speaksToUpstreams } from '../config/speaking.ts'
import type { Registry } from '../config/registry.ts'
import type { Pipeline, Route } from '../pipeline/nodes.ts'
import type { AnyClientCodec, EitherCodec } from '../spec/codec.ts'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import { pathParameters } from './action.ts'
import { exampleOf } from './example-of.ts'
import type { Schemas } from './schemas.ts'

/** The operation of a route that holders of API keys ask, in the protocol of its pipeline. */
export function inferenceOperation(
  { name, summary, protocol = '' }: Pipeline,
  { method, path }: Pick<Route, 'method' | 'path'>,
  { codecs }: Registry,
  schemas: Schemas,
): JsonObject {
  const found = codecs.get(protocol)
  const codec = found !== undefined && speaksToClients(found) ? found : undefined
  return {
    operationId: name,
    summary,
    description: `For holders of an API key.${codec ? ` The protocol is "${protocol}".` : ''}`,
    'x-access': { key: true },
    security: [{ key: [] }],
    parameters: pathParameters(path),
    ...(codec && method === 'POST' ? { requestBody: { required: true, content: bodyOf(codec, schemas) } } : {}),
    responses: {
      200: { description: 'The answer, in the form of the protocol.', ...answersOf(found, method) },
      default: { description: 'An error, in the form of the protocol.', content: errorOf(codec) },
    },
  }
}

function bodyOf(codec: AnyClientCodec, schemas: Schemas): JsonObject {
  const { protocol, content = 'json', located, schema: given } = codec
  const schema = schemas.refer(`${protocol}.request`, () => schemas.of(without(given, located?.fields ?? [])))
  const types =
    content === 'either'
      ? ['application/json', 'multipart/form-data']
      : content === 'json'
        ? ['application/json']
        : ['multipart/form-data']
  const example = exampleOf(schemas.open(schema))
  return Object.fromEntries(types.map((type) => [type, { schema, example }]))
}

/** A schema without the fields that the address says. */
function without(schema: JsonObject, fields: readonly string[]): JsonObject {
  const { required, properties, ...rest } = schema
  const left = Object.entries(isObject(properties) ? properties : {}).filter(([name]) => !fields.includes(name))
  return {
    ...rest,
    ...(Array.isArray(required)
      ? { required: (required as readonly string[]).filter((one) => !fields.includes(one)) }
      : {}),
    properties: Object.fromEntries(left),
  }
}

function answersOf(codec: EitherCodec | undefined, method: string): JsonObject {
  const object = { schema: { type: 'object' } }
  if (codec === undefined) return { content: { 'application/json': object } }
  if (method === 'DELETE') return {}
  if (method === 'GET') return { content: { 'text/event-stream': {} } }
  const { answers = 'json' } = speaksToUpstreams(codec) ? codec : {}
  if (answers === 'bytes') return { content: { '*/*': {} } }
  const text = answers === 'text' ? { 'text/plain': {} } : {}
  const stream = codec.events ? { 'text/event-stream': {} } : {}
  return { content: { 'application/json': object, ...text, ...stream } }
}

/** An error as clients of a protocol get it. */
function errorOf(codec: AnyClientCodec | undefined): JsonObject {
  if (codec === undefined) return { 'application/json': { schema: { $ref: '#/components/schemas/error' } } }
  const { failure } = new GatewayError('invalid_api_key')
  return { 'application/json': { schema: { type: 'object' }, example: codec.error.print(failure, 'req_1') } }
}
