import { createHash, createHmac } from 'node:crypto'
import type { JsonObject } from '../../engine/index.ts'
import { awsMessage } from './aws-event-stream.ts'
import type { RecordedRequest, Script } from './upstream.ts'

/** An event of ConverseStream, and its payload. */
export type ConverseEvent = readonly [event: string, payload: JsonObject]

/** Events as the messages of a stream, as Bedrock sends them; names of exceptions end in `Exception`. */
export function converseMessages(events: readonly ConverseEvent[]): Buffer {
  return Buffer.concat(
    events.map(([name, payload]) => {
      const kind = name.endsWith('Exception') ? 'exception' : 'event'
      const headers = { [`:${kind}-type`]: name, ':content-type': 'application/json', ':message-type': kind }
      return awsMessage(headers, { ...payload, p: 'abcdefgh' })
    }),
  )
}

/** A streamed answer, cut in the middle of its messages. */
export function converseStream(events: readonly ConverseEvent[]): Script {
  const bytes = converseMessages(events)
  const middle = Math.floor(bytes.length / 2)
  return {
    chunks: [bytes.subarray(0, 7), bytes.subarray(7, middle), bytes.subarray(middle)],
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  }
}

const usage = { inputTokens: 7, outputTokens: 3, totalTokens: 10 }

/** The events of an answer of texts, ended by its usage. */
export function said(...texts: readonly string[]): ConverseEvent[] {
  return [
    ['messageStart', { role: 'assistant' }],
    ...texts.map((text): ConverseEvent => ['contentBlockDelta', { contentBlockIndex: 0, delta: { text } }]),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ...ended('end_turn'),
  ]
}

export function ended(stopReason: string, more: JsonObject = {}): ConverseEvent[] {
  return [
    ['messageStop', { stopReason }],
    ['metadata', { usage: { ...usage, ...more }, metrics: { latencyMs: 1 } }],
  ]
}

/** A whole answer of these content blocks. */
export function converseReply(content: readonly JsonObject[], stopReason = 'end_turn', more: JsonObject = {}): Script {
  return {
    body: {
      metrics: { latencyMs: 1 },
      output: { message: { role: 'assistant', content: [...content] } },
      stopReason,
      usage: { ...usage, ...more },
    },
  }
}

/**
 * Why the signature of a request is wrong; undefined if it is right. Written after the description of Signature
 * Version 4 (docs.aws.amazon.com/IAM, create-signed-request): each segment of the path, as sent, is encoded once more.
 */
export function wrongSignature({ method, path, headers, body }: RecordedRequest, secret: string): string | undefined {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/bedrock\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})$/
  const [, , day = '', region = '', names = '', signature] = given.exec(headers.authorization ?? '') ?? []
  if (signature === undefined) return `it is none: ${headers.authorization}`
  const date = String(headers['x-amz-date'])
  if (!date.startsWith(day) || Math.abs(Date.now() - timeOf(date)) > 900_000) return `it is of ${date}`
  const sha = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
  const [pathname = '', query = ''] = path.split('?')
  const encoded = pathname
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(
        /[!'()*]/g,
        (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
  const parameters = [...new URLSearchParams(query)].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  const lines = names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
  const canonical = [method, encoded.join('/'), parameters.sort().join('&'), lines.join(''), names, sha(body)].join(
    '\n',
  )
  const scope = `${day}/${region}/bedrock/aws4_request`
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const key = [region, 'bedrock', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day))
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n')).toString('hex')
  return expected === signature ? undefined : `of ${canonical}`
}

function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
