import { endSession, heldSession } from './session.ts'
import { noteAnswer, noteSilence } from './silence.ts'

/** One finding of a refusal: which field, and why. */
export interface Finding {
  readonly param: string | null
  readonly code: string
  readonly message: string
}

/** The gateway's answer to a refused request, or the sentence that it does not answer at all (status 0). */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null
  /** All findings of a 422, in the order of the document. */
  readonly findings: readonly Finding[]
  /** `x-request-id` of the answer. */
  readonly requestId: string | null
  /** What was asked. */
  readonly path: string

  constructor(path: string, status: number, finding: Finding, findings: readonly Finding[], requestId: string | null) {
    super(finding.message)
    this.path = path
    this.status = status
    this.code = finding.code
    this.param = finding.param
    this.findings = findings
    this.requestId = requestId
  }
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface Asking {
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  /** The version that the change was made from; another one is refused with 412. */
  readonly ifMatch?: number | string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** `path` with the query's values; lists become repeated parameters, `undefined` none. */
export function addressOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [String(value)]) search.append(name, one)
  }
  const text = search.toString()
  return text ? `${path}?${text}` : path
}

/** Refusals of a change by what is there by now: it is gone, its name is taken or used, it has another version. */
const outdated: readonly number[] = [404, 409, 412]
const listeners = new Set<() => void>()

/** Tells when a change was refused because what is shown is not what is there. */
export const onOutdated = (listener: () => void): void => void listeners.add(listener)

/** Sends a request of the signed-in user and gives the response as it comes. Throws {@link Refusal} for any status but 2xx. */
export async function askRaw(method: Method, path: string, asking: Asking = {}): Promise<Response> {
  const session = heldSession()
  const headers = new Headers({ accept: 'application/json', ...asking.headers })
  if (session) headers.set('authorization', `Bearer ${session.token}`)
  if (asking.body !== undefined) headers.set('content-type', 'application/json')
  if (asking.ifMatch !== undefined && asking.ifMatch !== null) headers.set('if-match', `"${asking.ifMatch}"`)
  let response: Response
  try {
    response = await fetch(addressOf(path, asking.query), {
      method,
      headers,
      ...(asking.body === undefined ? {} : { body: JSON.stringify(asking.body) }),
      ...(asking.signal ? { signal: asking.signal } : {}),
      credentials: 'omit',
      cache: 'no-store',
    })
  } catch (error) {
    if (asking.signal?.aborted) throw error
    noteSilence()
    const silent = { param: null, code: 'no_answer', message: 'The gateway does not answer.' }
    throw new Refusal(path, 0, silent, [silent], null)
  }
  noteAnswer()
  if (response.ok) return response
  const refusal = await refusalOf(path, response)
  if (response.status === 401 && session && refusal.code === 'invalid_token') endSession()
  if (method !== 'GET' && outdated.includes(response.status)) for (const listener of listeners) listener()
  throw refusal
}

/** The JSON of the answer; `undefined` for 204. */
export async function ask<T>(method: Method, path: string, asking: Asking = {}): Promise<T> {
  const response = await askRaw(method, path, asking)
  return (response.status === 204 ? undefined : await response.json()) as T
}

async function refusalOf(path: string, response: Response): Promise<Refusal> {
  const requestId = response.headers.get('x-request-id')
  const words = { param: null, code: `http_${response.status}`, message: `The gateway answered ${response.status}.` }
  try {
    const { error, errors } = (await response.json()) as { error?: Finding; errors?: readonly Finding[] }
    const first = error ?? words
    return new Refusal(path, response.status, first, errors ?? [first], requestId)
  } catch {
    // A proxy in between may answer with a page of its own.
    return new Refusal(path, response.status, words, [words], requestId)
  }
}
