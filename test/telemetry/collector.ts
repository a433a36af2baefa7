import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs'
import { until } from '../support/until.ts'
import { otlp } from './otlp-proto.ts'

/** The value of an attribute. */
export type Value = string | number | boolean | readonly Value[]

/** A span as a collector reads it. */
export interface SeenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  /** In nanoseconds of Unix time. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, Value>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
  readonly resource: Readonly<Record<string, Value>>
}

/** A point of a metric as a collector reads it. */
export interface SeenPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Readonly<Record<string, Value>>
  /** Of a histogram: how often something was observed. */
  readonly value: number
  readonly sum?: number
  readonly resource: Readonly<Record<string, Value>>
}

/** What a collector answers: a status, or nothing at all. */
export type Answering = number | 'nothing'

/** A collector on a free local port, which reads OTLP in both encodings, and does what a test wants. */
export interface Collector {
  readonly url: string
  readonly spans: readonly SeenSpan[]
  readonly points: readonly SeenPoint[]
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** How it answers from now on. */
  answer(how: Answering): void
  /** The spans of the trace, or the request, of which `fits` is true of one, once they are there. */
  trace(fits: (span: SeenSpan) => boolean): Promise<readonly SeenSpan[]>
  close(): Promise<void>
}

const root = protobuf.parse(otlp).root
const types = {
  '/v1/traces': root.lookupType('sluice.test.Traces'),
  '/v1/metrics': root.lookupType('sluice.test.Metrics'),
}

export async function startCollector(path = ''): Promise<Collector> {
  const spans: SeenSpan[] = []
  const points: SeenPoint[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  let how: Answering = 200
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const asked = request.url ?? ''
      requests.push({ path: asked, headers: request.headers })
      if (how === 'nothing') return
      response.statusCode = how
      if (how === 200) {
        const body = Buffer.concat(chunks)
        const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
        const read = decode(asked.slice(path.length), request.headers['content-type'] ?? '', plain)
        spans.push(...spansIn(read))
        points.push(...pointsIn(read))
      }
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    spans,
    points,
    requests,
    answer: (next) => void (how = next),
    async trace(fits) {
      await until(() => spans.some(fits))
      const id = spans.find(fits)?.traceId
      return spans.filter(({ traceId }) => traceId === id)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

// What a decoder gives has any form.
// oxlint-disable-next-line no-explicit-any
type Raw = any

function decode(path: string, type: string, body: Buffer): Raw {
  if (type.startsWith('application/json')) return JSON.parse(body.toString())
  if (type !== 'application/x-protobuf') throw new Error(`a collector cannot read ${type}`)
  const known = types[path as keyof typeof types]
  if (known === undefined) throw new Error(`a collector has no path ${path}`)
  const message = known.toObject(known.decode(body), { longs: String, bytes: Array, defaults: false })
  return message
}

/** Ids are bytes in protobuf, and hexadecimal in JSON. */
function idOf(id: readonly number[] | string | undefined): string {
  return typeof id === 'string' ? id : Buffer.from(id ?? []).toString('hex')
}

function attributesIn(list: readonly Raw[] = []): Record<string, Value> {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf(value: Raw): Value {
  if (value.stringValue !== undefined) return value.stringValue
  if (value.boolValue !== undefined) return value.boolValue
  if (value.intValue !== undefined) return Number(value.intValue)
  if (value.doubleValue !== undefined) return value.doubleValue
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf)
  return ''
}

const kinds = ['internal', 'internal', 'server', 'client'] as const

function spansIn({ resourceSpans = [] }: Raw): SeenSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Raw) =>
    scopeSpans.flatMap(({ spans }: Raw) =>
      spans.map((span: Raw) => ({
        traceId: idOf(span.traceId),
        spanId: idOf(span.spanId),
        parentSpanId: idOf(span.parentSpanId),
        traceState: span.traceState ?? '',
        name: span.name,
        kind: kinds[span.kind] ?? 'internal',
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: attributesIn(span.attributes),
        links: (span.links ?? []).map((link: Raw) => ({ traceId: idOf(link.traceId), spanId: idOf(link.spanId) })),
        isError: span.status?.code === 2,
        resource: attributesIn(resource.attributes),
      })),
    ),
  )
}

function pointsIn({ resourceMetrics = [] }: Raw): SeenPoint[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }: Raw) =>
    scopeMetrics.flatMap(({ metrics }: Raw) =>
      metrics.flatMap(({ name, unit = '', sum, gauge, histogram }: Raw) =>
        (sum ?? gauge ?? histogram).dataPoints.map((point: Raw) => ({
          metric: name,
          unit,
          attributes: attributesIn(point.attributes),
          value: Number(point.asDouble ?? point.asInt ?? point.count ?? 0),
          ...(point.sum === undefined ? {} : { sum: point.sum }),
          resource: attributesIn(resource.attributes),
        })),
      ),
    ),
  )
}
