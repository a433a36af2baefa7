import type { AnyGuard, Found, Host, Judge, Judged, JudgeScope, JsonObject, Scope } from '../../engine/index.ts'
import { duration } from '../../engine/kit.ts'
import { onErrorOf } from './guard-record.ts'
import type { GuardRecord } from './guard-record.ts'
import type { Role } from './texts.ts'

/** What a judgement came to: what was found, or why there is none. */
export type Judgement = { readonly milliseconds: number } & (
  | { readonly found: Found }
  | { readonly failed: 'timeout' | 'error' | 'left' }
)

/** What a rule is made with. */
export interface RuleParts {
  readonly kind: AnyGuard
  /** Its index among all guards. */
  readonly place: number
  /** How far its connections may go. */
  readonly bounds: Host['bounds']
  /** The views of the services that its kind uses. */
  readonly services: () => Readonly<Record<string, unknown>>
}

/** A guard of a configuration, ready to judge. */
export class Rule {
  readonly record: GuardRecord
  readonly name: string
  readonly kind: string
  readonly action: GuardRecord['action']
  readonly place: number
  readonly isShadow: boolean
  /** Whether nothing passes that it could not judge. */
  readonly isClosed: boolean
  readonly timeout: number
  /** Most characters of what it finds; undefined: it is not known. */
  readonly longest: number | undefined
  /** How it judges streams, where it knows no longest match. */
  readonly stream: 'window' | 'full' | 'after'
  readonly window: { readonly characters: number; readonly time: number; readonly overlap: number }
  readonly #parts: RuleParts
  #judge: Judge | undefined

  constructor(record: GuardRecord, parts: RuleParts) {
    const { kind } = parts
    this.record = record
    this.name = record.name
    this.kind = record.kind
    this.action = record.action
    this.place = parts.place
    this.isShadow = record.shadow
    this.isClosed = onErrorOf(record) === 'closed'
    this.timeout = duration(record.timeout)
    this.longest = kind.longest?.(record as unknown as JsonObject)
    const isWhole = kind.whole === true || record.action === 'retry' || record.action === 'fallback'
    this.stream = record.stream ?? (isWhole ? 'full' : 'window')
    const { characters, time, overlap } = record.window
    this.window = { characters, time: duration(time), overlap }
    this.#parts = parts
  }

  /** Whether it masks, so that it runs before the others. */
  get masks(): boolean {
    return this.action === 'mask' && !this.isShadow
  }

  /** What the client reads when it denies. */
  get message(): string {
    return this.record.message || 'The content was blocked.'
  }

  judgesRequests(): boolean {
    const { side } = this.record
    return side.includes('input') || side.includes('tool_results')
  }

  judgesAnswers(): boolean {
    const { side } = this.record
    return side.includes('output') || side.includes('tool_calls')
  }

  /** Whether it judges a text of a request. */
  covers(role: Role): boolean {
    const { side, roles, mask } = this.record
    // What it has masked comes back in the messages of the assistant with its own text.
    if (this.masks && mask === 'token' && role === 'assistant') return true
    if (side.includes('tool_results') && role === 'tool') return true
    return side.includes('input') && roles.includes(role)
  }

  /** Whether it judges a part of an answer. */
  coversPart(part: 'text' | 'refusal' | 'reasoning' | 'call'): boolean {
    const { side, reasoning } = this.record
    if (part === 'call') return side.includes('tool_calls')
    return side.includes('output') && (part !== 'reasoning' || reasoning)
  }

  /** Draws whether a request is one of those that it judges. */
  isDrawn(): boolean {
    return this.record.sample >= 1 || Math.random() < this.record.sample
  }

  /**
   * Judges, in its time. Never throws and never rejects: the gateway goes by `isClosed` when a guard fails. A judge that
   * answers at once makes no promise.
   * @param places whether all places are wanted: otherwise whether there is one suffices
   */
  judge(
    judged: Judged,
    host: Host,
    scope: Scope,
    signal?: AbortSignal,
    places = this.masks,
  ): Judgement | Promise<Judgement> {
    const started = performance.now()
    const milliseconds = () => performance.now() - started
    const failed = (error: unknown): Judgement => {
      host.log.warn({ err: error, guard: this.name, id: scope.id }, 'a guard could not judge')
      return { failed: 'error', milliseconds: milliseconds() }
    }
    const own = new OneJudgement(scope, this.timeout, places)
    try {
      this.#judge ??= this.#open(host)
      const found = this.#judge(judged, own)
      if (!(found instanceof Promise)) return { found: sound(found, judged), milliseconds: milliseconds() }
      return new Promise((resolve) => {
        const end = (reason: 'timeout' | 'left') => {
          settled()
          own.end(new Error(reason))
          resolve({ failed: reason, milliseconds: milliseconds() })
        }
        const leave = () => end('left')
        const timer = setTimeout(end, this.timeout, 'timeout')
        const forget = scope.onAbort(leave)
        signal?.addEventListener('abort', leave)
        const settled = () => {
          clearTimeout(timer)
          forget()
          signal?.removeEventListener('abort', leave)
        }
        if (signal?.aborted === true) return leave()
        found.then(
          (one) => {
            settled()
            try {
              resolve({ found: sound(one, judged), milliseconds: milliseconds() })
            } catch (error) {
              resolve(failed(error))
            }
          },
          (error: unknown) => {
            settled()
            if (!own.signal.aborted) resolve(failed(error))
          },
        )
      })
    } catch (error) {
      return failed(error)
    }
  }

  #open(host: Host): Judge {
    const { kind, bounds, services } = this.#parts
    const own = bounds ? { ...host, bounds } : host
    return kind.build(this.record as unknown as JsonObject, own, services()) as Judge
  }
}

/** What a judge gets beside what it judges. Most answer at once, and have no need of a signal, which takes its time. */
class OneJudgement implements JudgeScope {
  readonly id: string
  readonly trace: Scope['trace']
  readonly timeout: number
  readonly places: boolean
  #ending: AbortController | undefined

  constructor({ id, trace }: Pick<Scope, 'id' | 'trace'>, timeout: number, places: boolean) {
    this.id = id
    this.trace = trace
    this.timeout = timeout
    this.places = places
  }

  get signal(): AbortSignal {
    return (this.#ending ??= new AbortController()).signal
  }

  readonly onAbort = (listener: (reason: Error) => void): (() => void) => {
    const { signal } = this
    const tell = () => listener(signal.reason as Error)
    signal.addEventListener('abort', tell, { once: true })
    return () => signal.removeEventListener('abort', tell)
  }

  end(reason: Error): void {
    this.#ending ??= new AbortController()
    this.#ending.abort(reason)
  }
}

/** The order in which guards judge: masks first, so that the others do not see what these hide; each by its place. */
export function inOrder(one: Rule, other: Rule): number {
  return Number(other.masks) - Number(one.masks) || one.place - other.place
}

/** What a judge gave, if it is right: it may be JavaScript, and an answer that cannot be read is no pass. */
function sound(found: Found, { texts }: Judged): Found {
  if (typeof found?.hit !== 'boolean') throw new Error('it gave no verdict')
  for (const { text, start, end } of found.spans ?? []) {
    const length = texts[text]?.text.length ?? -1
    if (!(start >= 0 && start <= end && end <= length)) throw new Error('it gave a place that is not there')
  }
  for (const change of found.texts ?? [])
    if (texts[change.text] === undefined || typeof change.with !== 'string')
      throw new Error('it gave a text for one that is not there')
  return found
}
