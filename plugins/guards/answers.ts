import type {
  Envelope,
  EventMap,
  Gate,
  GenerateEvent,
  HeldEvents,
  Judged,
  UpstreamAnswer,
  Verdict,
} from '../../engine/index.ts'
import { mapText } from '../../engine/kit.ts'
import { AnswerGate } from './answer-gate.ts'
import { asidesIn, unrepeatedIn } from './asides.ts'
import { askedOf, watchedOutcome } from './requests.ts'
import type { Around } from './requests.ts'
import type { Rule } from './rule.ts'
import { Segments, callsOf, placeOf } from './segments.ts'
import type { Segment } from './segments.ts'
import type { TokenTable } from './token-table.ts'

/** Lets guards judge an answer in their order; the client alone gets back what tokens stand for. */
export function guardAnswer(
  rules: readonly Rule[],
  given: UpstreamAnswer,
  request: Envelope,
  around: Around,
): UpstreamAnswer {
  // Other operations answer no text.
  if (given.operation !== 'generate') return given
  let answer = given
  const { stream: streams } = request
  const isBeside = (rule: Rule) => !rule.masks && !watches(rule, streams) && (!streams || rule.stream === 'full')
  const beside = rules.filter(isBeside)
  for (const rule of rules) {
    if (isBeside(rule)) continue
    if (watches(rule, streams)) answer = watched(rule, answer, request, around)
    else answer = answer.gate(() => gateOf([rule], request, around), optionsOf(rule))
  }
  if (beside.length > 0) {
    const options = beside.map(optionsOf).find(({ before }) => before) ?? {}
    answer = answer.gate(() => gateOf(beside, request, around), options)
  }
  return restored(answer, around.exchange.tokens)
}

/** What lets guards judge an answer: several do so beside each other, when all of it has come. */
export function gateOf(rules: readonly Rule[], request: Envelope, around: Around): Gate {
  const gates = rules.map((rule) => new AnswerGate(rule, request, around))
  const [only] = gates
  return only && gates.length === 1 ? only : new GatesBeside(rules, gates)
}

/** Lets several guards judge a whole answer beside each other. The first that ends it ends the other judgements. */
class GatesBeside implements Gate {
  readonly window = { characters: Infinity, time: Infinity }
  readonly calls: boolean
  readonly #rules: readonly Rule[]
  readonly #gates: readonly AnswerGate[]

  constructor(rules: readonly Rule[], gates: readonly AnswerGate[]) {
    this.#rules = rules
    this.#gates = gates
    this.calls = gates.some(({ calls }) => calls)
  }

  judge(held: HeldEvents, signal: AbortSignal): Verdict | Promise<Verdict> {
    const events = this.#rules.reduce(unrepeatedIn, held.events)
    const all = events === held.events ? held : { ...held, events }
    const passed: Verdict = all === held ? 'pass' : { replace: events }
    const ending = new AbortController()
    // What is taken away was taken away before; only an answer that goes on keeps its own end.
    const goesOn = (verdict: Verdict) =>
      verdict === 'pass' || ('replace' in verdict && verdict.replace.at(-1) === events.at(-1))
    const ended = (verdict: Verdict): Verdict => {
      ending.abort(new Error('another guard has ended the answer'))
      return verdict
    }
    const either = AbortSignal.any([signal, ending.signal])
    const waiting: Promise<Verdict>[] = []
    for (const gate of this.#gates) {
      const verdict = gate.judge(all, either)
      if (verdict instanceof Promise) waiting.push(verdict)
      else if (!goesOn(verdict)) return ended(verdict)
    }
    if (waiting.length === 0) return passed
    return new Promise((resolve, reject) => {
      for (const one of waiting) one.then((verdict) => goesOn(verdict) || resolve(ended(verdict)), reject)
      void Promise.allSettled(waiting).then(() => resolve(passed))
    })
  }
}

/** The answer with what tokens stand for, for this client alone. */
export function restored(answer: UpstreamAnswer, tokens: TokenTable): UpstreamAnswer {
  if (tokens.longest === 0 || answer.operation !== 'generate') return answer
  return answer.shown(() => new Restoring(tokens))
}

/** Whether it changes nothing and nobody has to wait for it. */
export function watches({ action, isShadow, record }: Rule, streams: boolean): boolean {
  return isShadow || (action === 'flag' && streams && (record.stream ?? 'after') === 'after')
}

/** Another try is possible only while the client has got nothing. */
function optionsOf({ action }: Rule): { readonly before?: 'reply' } {
  return action === 'retry' || action === 'fallback' ? { before: 'reply' } : {}
}

/** Lets a guard judge an answer when all of it has passed. */
function watched(rule: Rule, answer: UpstreamAnswer, request: Envelope, around: Around): UpstreamAnswer {
  const segments = rule.longest === undefined ? new Segments(Infinity) : new Segments(rule.longest, true)
  const parts: Segment[] = []
  const asides = new Set<string>()
  return answer.watch((event) => {
    const { segments: ended } = segments.place([event])
    // A piece comes again with its item.
    if (event.type !== 'progress' || event.piece !== true) for (const text of asidesIn(event, rule)) asides.add(text)
    for (const one of ended) if (one.isOver && !parts.includes(one)) parts.push(one)
    if (event.type !== 'finish' && event.type !== 'failure') return
    const covered = parts.filter(({ kind, text }) => rule.coversPart(kind) && text !== '')
    const texts = covered.map((one) => ({ at: placeOf(one), text: one.text }))
    // A value may go on from the part before.
    const joined = covered.flatMap((one) =>
      one.joints.map(({ text }) => ({ at: placeOf(one), text: text + one.text, joint: text.length })),
    )
    const all = [...texts, ...asidesAt(asides), ...joined]
    if (all.length > 0) judgeAfter(rule, all, covered, { request, around })
  })
}

function asidesAt(asides: ReadonlySet<string>): readonly { readonly at: string; readonly text: string }[] {
  return [...asides].map((text) => ({ at: 'output', text }))
}

function judgeAfter(
  rule: Rule,
  texts: readonly { readonly at: string; readonly text: string; readonly joint?: number }[],
  segments: readonly Segment[],
  { request, around }: { readonly request: Envelope; readonly around: Around },
): void {
  const { exchange, host, scope, principal } = around
  const judged: Judged = {
    texts: texts.map(({ at, text }) => ({ at, role: 'assistant', text, from: 0 })),
    tool_calls: callsOf(segments),
    tools: [],
    side: 'output',
    final: true,
    window: null,
    request: askedOf(request, scope, principal),
  }
  const judging = Promise.resolve(rule.judge(judged, host, scope)).then((judgement) => {
    const spans = ('found' in judgement ? judgement.found.spans : undefined) ?? []
    const own = spans.filter(({ text, start, end }) => {
      const { joint = 0 } = texts[text] ?? {}
      return joint === 0 || (start < joint && end > joint)
    })
    exchange.tell(rule, 'output', judgement, watchedOutcome(rule, judgement), own.length || undefined)
  })
  exchange.wait(judging)
}

/** Puts back what tokens stand for. A seal stays: the next turn masks its text back. */
class Restoring implements EventMap {
  readonly #map: EventMap

  constructor(tokens: TokenTable) {
    this.#map = mapText((text) => tokens.restored(text), tokens.longest)()
  }

  event(event: GenerateEvent): Iterable<GenerateEvent> {
    const given = [...this.#map.event(event)]
    return event.type === 'seal' && !given.some(({ type }) => type === 'seal') ? [...given, event] : given
  }
}
