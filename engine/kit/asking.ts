import type { IncomingHttpHeaders } from 'node:http'
import { parsedJson } from '../json/parse.ts'
import type { WholeReply } from '../spec/dispatch.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Ingress } from '../spec/slots.ts'
import type { BodyReader } from '../spec/source.ts'
import { BytesBody, readHeld } from '../stream/body.ts'

/** A request that no client sent. */
export interface Question {
  /** The protocol of `body` and of the reply, whatever protocol the pipeline's clients speak. */
  readonly protocol: string
  readonly body: JsonObject
  readonly headers?: IncomingHttpHeaders
}

/** An ingress without a client, for a pipeline whose `parse` stage reads it. */
export function asking({ protocol, body, headers = {} }: Question): Ingress {
  const bytes = new BytesBody(Buffer.from(JSON.stringify(body)))
  return {
    method: 'POST',
    path: '/',
    params: {},
    query: new URLSearchParams(),
    headers: { ...headers, 'content-type': 'application/json' },
    transport: 'http',
    remote: '',
    protocol,
    body: (limit: number, reader?: BodyReader) => readHeld(bytes, limit, reader),
  }
}

/** The JSON of a reply, relayed or printed; undefined when the reply is not JSON. */
export function replyJson({ body }: WholeReply): Json | undefined {
  if (body.kind === 'json') return body.value
  return body.kind === 'bytes' ? parsedJson(Buffer.from(body.bytes).toString()) : undefined
}
