import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json, JsonObject } from '../../engine/index.ts'
import { asText } from '../../engine/kit.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: JsonObject }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >
}

/** An answer, whose body fits the schema that the document has for its status and type. */
export interface ClientAnswer {
  readonly status: number
  /** Undefined: it is no JSON. */
  readonly body: JsonObject | undefined
  readonly headers: Headers
}

/** How an operation is called. */
export interface Calling {
  /** The values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the example of the document. */
  readonly body?: JsonObject
  /** In place of the credentials for the operation's security scheme. */
  readonly token?: string
}

/** Calls operations by their ids, with the example bodies of an OpenAPI document. It knows of the API what the document says. */
export class OpenApiClient {
  /** The ids of all operations. */
  readonly operations: readonly string[]
  readonly #found: ReadonlyMap<string, Operation & { readonly method: string; readonly path: string }>
  readonly #ajv: Ajv2020
  readonly #url: string
  readonly #credentials: Readonly<Record<string, string>>

  /** @param credentials bearer tokens, by the names of security schemes */
  constructor(document: JsonObject, url: string, credentials: Readonly<Record<string, string>>) {
    const paths = document['paths'] as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>
    const all = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [one.operationId, { ...one, method, path }] as const),
    )
    this.#found = new Map(all)
    this.operations = all.map(([id]) => id)
    this.#url = url
    this.#credentials = credentials
    this.#ajv = formats.default(new Ajv2020({ strict: false, validateSchema: false }))
    this.#ajv.addSchema({ $id: 'document', ...document })
  }

  /** What is wrong with a value by a schema of the document; undefined: nothing. */
  wrong(schema: object, value: Json): string | undefined {
    const within = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object
    const valid = this.#ajv.compile(within)
    return valid(value) ? undefined : this.#ajv.errorsText(valid.errors)
  }

  /** The bodies that the document gives as examples, with their schemas. */
  examples(): readonly { readonly id: string; readonly schema: object; readonly example: JsonObject }[] {
    return [...this.#found].flatMap(([id, { requestBody }]) =>
      Object.values(requestBody?.content ?? {}).map((one) => ({
        id,
        ...(one as { schema: object; example: JsonObject }),
      })),
    )
  }

  async call(id: string, { path = {}, query = '', headers = {}, body, token }: Calling = {}): Promise<ClientAnswer> {
    const operation = this.#found.get(id)
    if (operation === undefined) throw new Error(`there is no operation "${id}"`)
    const at = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? `my-${name}`),
    )
    const [scheme = ''] = operation.security.flatMap((one) => Object.keys(one))
    const shown = token ?? this.#credentials[scheme]
    const [type, { example } = {}] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
    const sent = body ?? example
    const isForm = type === 'multipart/form-data'
    const response = await fetch(this.#url + at + query, {
      method: operation.method.toUpperCase(),
      headers: {
        ...(shown === undefined ? {} : { authorization: `Bearer ${shown}` }),
        ...(type === undefined || isForm ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: isForm ? formOf(sent) : JSON.stringify(sent) }),
    })
    return this.#checked(operation, response)
  }

  async #checked({ operationId: id, responses }: Operation, response: Response): Promise<ClientAnswer> {
    const { status, headers } = response
    const answer = responses[status] ?? (status >= 400 ? responses['default'] : undefined)
    if (answer === undefined)
      throw new Error(`${id} answers ${status}, which the document does not have: ${await response.text()}`)
    const [type = ''] = headers.get('content-type')?.split(';') ?? []
    // A stream that lasts is read no further.
    if (type === 'text/event-stream') {
      await response.body?.cancel()
      return { status, headers, body: undefined }
    }
    const text = await response.text()
    if (text === '' && answer.content === undefined) return { status, headers, body: undefined }
    const content = answer.content?.[type] ?? answer.content?.['*/*']
    if (content === undefined)
      throw new Error(`${id} answers ${status} of type "${type}", which the document does not have`)
    if (type !== 'application/json') return { status, headers, body: undefined }
    const body = JSON.parse(text) as JsonObject
    const wrong = content.schema && this.wrong(content.schema, body)
    if (wrong !== undefined)
      throw new Error(`${id} answers ${status} with another body than the document has: ${wrong}\n${text}`)
    return { status, headers, body }
  }
}

function formOf(fields: JsonObject): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (name === 'file') form.append(name, new Blob(['sound']), asText(value))
    else form.append(name, asText(value))
  return form
}
