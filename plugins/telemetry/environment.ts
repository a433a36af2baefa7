import { readFileSync } from 'node:fs'
import type { SaidByVariables, ServiceHost } from '../../engine/index.ts'
import { VariableReader } from './variable-reader.ts'
import type { Signal } from './variable-reader.ts'

type Environment = ServiceHost['environment']

/** How one signal is sent by OTLP. */
export interface Sending {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: 'http/protobuf' | 'http/json'
  /** In milliseconds. */
  readonly timeout: number
  readonly compression: 'gzip' | 'none'
  /** Paths of PEM files. */
  readonly certificate?: string
  readonly clientKey?: string
  readonly clientCertificate?: string
}

/** Which traces are recorded (OpenTelemetry specification, "Built-in samplers"). */
export interface Sampling {
  readonly root: 'always_on' | 'always_off' | 'traceidratio'
  readonly parentBased: boolean
  readonly ratio: number
}

/** A file of certificates that a variable names, and the signal that is sent with it. */
export interface CertificateFile {
  readonly variable: string
  readonly path: string
  readonly signal: Signal
  /** Whether it says which collectors are trusted; otherwise it says who the gateway is. */
  readonly isTrusted: boolean
}

/** What OpenTelemetry's variables say, with its defaults for what they leave out. */
export interface TelemetryEnvironment {
  /** `asks`: whether there are traces if the settings leave it open. Console: to standard output. */
  readonly traces: {
    readonly asks: boolean
    readonly otlp: boolean
    readonly console: boolean
    readonly sending: Sending
  }
  readonly metrics: { readonly pushes: boolean; readonly interval: number; readonly sending: Sending }
  readonly disabled: boolean
  readonly sampling: Sampling
  /** Whether trace context is read from clients and written to providers. */
  readonly propagates: boolean
  /** Of the queue of spans: sizes in spans, times in milliseconds. */
  readonly batch: {
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
    readonly scheduledDelayMillis: number
    readonly exportTimeoutMillis: number
  }
  /** Most characters of the value of an attribute. */
  readonly valueLength: number
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly certificates: readonly CertificateFile[]
  /** The signals that are off, because of a value that cannot be used, each with a sentence. */
  readonly broken: ReadonlyMap<Signal, string>
  /** Settings that variables decide, and what is wrong with them. */
  readonly said: SaidByVariables
}

const protocols = ['http/protobuf', 'http/json'] as const
const roots = ['always_on', 'always_off', 'traceidratio'] as const
const samplers = roots.flatMap((root) => [root, `parentbased_${root}`])
const usualEndpoint = 'http://localhost:4318'
/** The words of the variable for content: what is on a span, and what is not. */
const contents: ReadonlyMap<string, 'span' | 'off'> = new Map([
  ['true', 'span'],
  ['span_only', 'span'],
  ['false', 'off'],
  ['no_content', 'off'],
])

const known = new WeakMap<Environment, TelemetryEnvironment>()

/** Reads the variables of OpenTelemetry once. An empty variable counts as unset. */
export function readEnvironment(environment: Environment): TelemetryEnvironment {
  const made = known.get(environment) ?? read(new VariableReader(environment))
  known.set(environment, made)
  return made
}

function read(from: VariableReader): TelemetryEnvironment {
  const disabled = from.word('OTEL_SDK_DISABLED', ['true', 'false'], []) === 'true'
  const exporters = from.words('OTEL_TRACES_EXPORTER', ['otlp', 'console', 'none'], ['traces'])
  const readers = from.words('OTEL_METRICS_EXPORTER', ['otlp', 'prometheus', 'none'], ['metrics'])
  const propagators = from.words('OTEL_PROPAGATORS', ['tracecontext', 'baggage', 'none'], ['traces'])
  const logs = from.text('OTEL_LOGS_EXPORTER')
  if (logs !== undefined && logs !== 'none') from.warn('OTEL_LOGS_EXPORTER', 'logs are not exported; none says so')
  const content = contentIn(from)
  const traces = {
    asks: from.text('OTEL_TRACES_EXPORTER') !== undefined || hasEndpoint(from, 'TRACES') || hasEndpoint(from),
    otlp: exporters?.includes('otlp') ?? true,
    console: exporters?.includes('console') ?? false,
    sending: sendingOf(from, 'traces'),
  }
  const metrics = {
    // Something is asked for that cannot be done, which is told where it would have been done.
    pushes:
      readers?.includes('otlp') ?? (from.text('OTEL_METRICS_EXPORTER') !== undefined || hasEndpoint(from, 'METRICS')),
    interval: from.number('OTEL_METRIC_EXPORT_INTERVAL', { least: 1, usual: 60_000 }, ['metrics']),
    sending: sendingOf(from, 'metrics'),
  }
  const decides = [
    ...(disabled ? (['traces', 'metrics'] as const).map((signal) => off(signal, 'OTEL_SDK_DISABLED')) : []),
    ...(exporters && !disabled ? [isOn('traces', 'OTEL_TRACES_EXPORTER', exporters)] : []),
    ...(readers && !disabled ? [isOn('metrics', 'OTEL_METRICS_EXPORTER', readers)] : []),
    ...(content ? [{ setting: 'traces.content', variable: contentVariable, value: content }] : []),
  ]
  return {
    disabled,
    traces,
    metrics,
    sampling: samplingIn(from),
    propagates: propagators === undefined || propagators.includes('tracecontext'),
    batch: batchIn(from),
    valueLength: from.number('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', { least: 0, usual: Infinity }, ['traces']),
    ...resourceIn(from),
    certificates: (['traces', 'metrics'] as const).flatMap((signal) => certificatesOf(from, signal)),
    broken: from.broken,
    said: { decides, mistakes: from.mistakes },
  }
}

function off(signal: Signal, variable: string): SaidByVariables['decides'][number] {
  return { setting: `${signal}.enabled`, variable, value: false }
}

function isOn(signal: Signal, variable: string, words: readonly string[]): SaidByVariables['decides'][number] {
  return { setting: `${signal}.enabled`, variable, value: !words.includes('none') }
}

const contentVariable = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'

function contentIn(from: VariableReader): 'span' | 'off' | undefined {
  if (from.text(contentVariable) === undefined) return undefined
  // Who asks for content elsewhere, or in a way that is not known, does not ask for it on spans.
  return contents.get(from.word(contentVariable, [...contents.keys()], []) ?? '') ?? 'off'
}

function hasEndpoint(from: VariableReader, signal?: 'TRACES' | 'METRICS'): boolean {
  return from.text(`OTEL_EXPORTER_OTLP_${signal === undefined ? '' : `${signal}_`}ENDPOINT`) !== undefined
}

/** A variable of one signal counts before the one that both have. */
function variableOf(from: VariableReader, signal: Signal, word: string): string {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${word}`
  return from.text(own) === undefined ? `OTEL_EXPORTER_OTLP_${word}` : own
}

function certificatesOf(from: VariableReader, signal: Signal): readonly CertificateFile[] {
  return ['CERTIFICATE', 'CLIENT_CERTIFICATE'].flatMap((word) => {
    const variable = variableOf(from, signal, word)
    const path = from.text(variable)
    return path === undefined ? [] : [{ variable, path, signal, isTrusted: word === 'CERTIFICATE' }]
  })
}

function sendingOf(from: VariableReader, signal: Signal): Sending {
  const named = (word: string) => variableOf(from, signal, word)
  const file = (word: string) => {
    const variable = named(word)
    const path = from.text(variable)
    const mistake = path === undefined ? undefined : unreadable(path)
    if (mistake !== undefined) from.mistake(variable, mistake, [signal])
    return path
  }
  const certificate = file('CERTIFICATE')
  const clientKey = file('CLIENT_KEY')
  const clientCertificate = file('CLIENT_CERTIFICATE')
  return {
    url: urlOf(from, signal, named('ENDPOINT')),
    headers: from.headers(named('HEADERS'), [signal]),
    protocol: from.word(named('PROTOCOL'), protocols, [signal]) ?? 'http/protobuf',
    timeout: from.number(named('TIMEOUT'), { least: 1, usual: 10_000 }, [signal]),
    compression: from.word(named('COMPRESSION'), ['gzip', 'none'], [signal]) ?? 'none',
    ...(certificate === undefined ? {} : { certificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  }
}

/** Why a file cannot be used; undefined: it can be read. */
function unreadable(path: string): string | undefined {
  try {
    readFileSync(path)
    return undefined
  } catch (error) {
    const { code } = error as { readonly code?: string }
    return code === 'ENOENT' ? 'there is no such file' : `names a file that cannot be read (${code ?? 'unknown'})`
  }
}

/** The endpoint of a signal as it is; the one of all signals with the path of this one. */
function urlOf(from: VariableReader, signal: Signal, variable: string): string {
  const given = from.text(variable)
  const url = URL.parse(given ?? usualEndpoint)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    from.mistake(variable, 'must be a URL of http or https', [signal])
    return usualEndpoint
  }
  if (given !== undefined && variable !== 'OTEL_EXPORTER_OTLP_ENDPOINT') return url.href
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
  return url.href
}

function samplingIn(from: VariableReader): Sampling {
  const word = from.word('OTEL_TRACES_SAMPLER', samplers, ['traces']) ?? 'parentbased_always_on'
  const argument = { least: 0, most: 1, usual: 1, isWhole: false }
  const parentBased = word.startsWith('parentbased_')
  return {
    root: roots.find((root) => word.endsWith(root)) ?? 'always_on',
    parentBased,
    ratio: from.number('OTEL_TRACES_SAMPLER_ARG', argument, ['traces']),
  }
}

function batchIn(from: VariableReader): TelemetryEnvironment['batch'] {
  const number = (word: string, least: number, usual: number) =>
    from.number(`OTEL_BSP_${word}`, { least, usual }, ['traces'])
  const maxQueueSize = number('MAX_QUEUE_SIZE', 1, 2048)
  return {
    maxQueueSize,
    maxExportBatchSize: Math.min(maxQueueSize, number('MAX_EXPORT_BATCH_SIZE', 1, 512)),
    scheduledDelayMillis: number('SCHEDULE_DELAY', 0, 5_000),
    exportTimeoutMillis: number('EXPORT_TIMEOUT', 1, 30_000),
  }
}

function resourceIn(from: VariableReader): Pick<TelemetryEnvironment, 'serviceName' | 'resource'> {
  const resource = from.pairs('OTEL_RESOURCE_ATTRIBUTES', ['traces', 'metrics'])
  return { resource, serviceName: from.text('OTEL_SERVICE_NAME') ?? resource['service.name'] ?? 'sluice' }
}
