import { GatewayError } from '../../engine/index.ts'
import type {
  Envelope,
  Found,
  Gate,
  GenerateEvent,
  HeldEvents,
  Judged,
  JudgedRequest,
  Span,
  Verdict,
} from '../../engine/index.ts'
import { asidesIn, unrepeatedIn, withAsides } from './asides.ts'
import { Denial } from './denial.ts'
import type { OutcomeWord } from './exchange.ts'
import { allOf, maskOf } from './masking.ts'
import { askedOf } from './requests.ts'
import type { Around } from './requests.ts'
import { released } from './release.ts'
import type { Judgement, Rule } from './rule.ts'
import { Segments, callsOf, change, endsItem, inCall, isOf, partBefore, placeOf, textsOfCall } from './segments.ts'
import type { PlacedEvent, Segment } from './segments.ts'
import { beginningsOf, isOpen, joinedParts, ownSpans, ownText, startsOf, ungiven } from './windows.ts'
import type { PartSpan, Window, WindowText } from './windows.ts'

/** Lets one guard judge an answer: held back by its longest match if that is known, otherwise in windows. */
export class AnswerGate implements Gate {
  readonly window: Gate['window']
  readonly overlap: number
  readonly calls: boolean
  readonly together: boolean
  readonly #rule: Rule
  readonly #request: Envelope
  readonly #around: Around
  readonly #segments: Segments
  readonly #denial = new Denial()
  /** Whether it knows the longest match. */
  readonly #isKnown: boolean
  /** Characters that are held back, because a match may begin there. */
  readonly #tail: number
  /** Ends of texts that are held, because the next part may go on a match, and what follows in their items. */
  #queue: readonly PlacedEvent[] = []
  #isFinal = false
  /** How far each text is given in this window. */
  readonly #untils = new Map<Segment, number>()
  #windows = 0
  #asked: JudgedRequest | undefined

  constructor(rule: Rule, request: Envelope, around: Around) {
    this.#rule = rule
    this.#request = request
    this.#around = around
    const isKnown = rule.longest !== undefined
    const isFull = rule.stream === 'full'
    this.#isKnown = isKnown
    const { characters, time, overlap } = rule.window
    this.#tail = isKnown ? rule.longest - 1 : 0
    this.overlap = overlap
    this.calls = rule.coversPart('call')
    this.together = isKnown && !isFull
    this.window = isFull
      ? { characters: Infinity, time: Infinity }
      : isKnown
        ? { characters: 0, time: Infinity }
        : { characters, time }
    this.#segments = new Segments(isKnown ? rule.longest : overlap, isKnown)
  }

  judge(held: HeldEvents, signal: AbortSignal): Verdict | Promise<Verdict> {
    const events = unrepeatedIn(held.events, this.#rule)
    const { placed, segments: seen } = this.#segments.place(events)
    const all = seen.filter((one) => this.#covers(one))
    const [due, waiting] = [all.filter((one) => !this.#waits(one)), all.filter((one) => this.#waits(one))]
    const kept = this.#held.filter((one) => !due.includes(one) && !waiting.includes(one))
    const judged = [...this.#textsOf(due), ...this.#asidesOf(placed)]
    const texts = [...judged, ...kept.map(ownText)]
    const window = { held, placed, segments: [...kept, ...due], waiting, texts, isSame: events === held.events }
    this.#segments.close(seen.filter((one) => !all.includes(one)))
    this.#isFinal = held.final
    this.#untils.clear()
    // Nobody reads it any more.
    if (signal.aborted) return { replace: [] }
    const hasText = judged.some(({ text, from }) => text.length > from) || due.some(({ isOver }) => isOver)
    if (!hasText) return this.#pass(window)
    const { host, scope } = this.#around
    // Of several places, only those count whose beginning is not held back.
    const judgement = this.#rule.judge(
      this.#judgedOf(held, due, judged),
      host,
      scope,
      signal,
      this.#isKnown || this.#rule.masks,
    )
    this.#windows += 1
    return judgement instanceof Promise
      ? judgement.then((late) => this.#decide(window, late))
      : this.#decide(window, judgement)
  }

  /** The texts of which something is held, in their order. */
  get #held(): readonly Segment[] {
    return [...new Set(this.#queue.flatMap(({ segment }) => segment ?? []))]
  }

  /** What another guard has ended the answer with is no text of the model. */
  #covers({ kind, before, text }: Segment): boolean {
    return this.#rule.coversPart(kind) && (before !== '' || text !== this.#around.denied)
  }

  /** Of a match that goes on, nothing is given: it is judged again when it has grown by an eighth, in linear time. */
  #waits({ open, isOver, before, text }: Segment): boolean {
    return open !== undefined && !isOver && before.length > 4 * this.#tail && text.length < before.length / 8
  }

  #judgedOf(held: HeldEvents, segments: readonly Segment[], texts: readonly WindowText[]): Judged {
    const isWhole = held.final && this.#windows === 0
    return {
      texts,
      tool_calls: callsOf(segments),
      tools: [],
      side: 'output',
      final: held.final,
      window: isWhole ? null : this.#windows,
      request: (this.#asked ??= askedOf(this.#request, this.#around.scope, this.#around.principal)),
    }
  }

  #textsOf(segments: readonly Segment[]): readonly WindowText[] {
    return segments.flatMap((segment): WindowText[] => {
      if (segment.call?.isJson === true) {
        const at = placeOf(segment)
        return textsOfCall(segment.text).map((text) => ({ at, role: 'assistant', text, from: 0, segment }))
      }
      const own = ownText(segment)
      const joints = this.#isKnown && !segment.isCut ? segment.joints : []
      const longer = joints.map(({ text, text: { length: joint } }, index): WindowText => {
        return { ...own, text: text + own.text, from: joint + own.from, joint, way: index === 0 ? 0 : -1 }
      })
      return [own, ...longer]
    })
  }

  #asidesOf(placed: readonly PlacedEvent[]): readonly WindowText[] {
    return placed.flatMap(({ event }) =>
      asidesIn(event, this.#rule).map((text): WindowText => {
        const at = 'index' in event ? `output[${event.index}]` : 'output'
        return { at, role: 'assistant', text, from: 0, segment: undefined }
      }),
    )
  }

  #decide(unjudged: Window, judgement: Judgement): Verdict {
    const { exchange } = this.#around
    if ('failed' in judgement) {
      exchange.tell(this.#rule, 'output', judgement, 'error')
      if (!this.#rule.isClosed) return this.#pass(unjudged)
      // Nobody reads it any more, so nothing has to be told; what is stored is what was judged.
      if (judgement.failed === 'left') return { replace: [] }
      return { fail: new GatewayError('guard_unavailable', { guard: this.#rule.name }) }
    }
    const { found } = judgement
    const all = found.hit ? ownSpans(unjudged, found.spans ?? []) : []
    const spans = this.#sureSpans(unjudged, all)
    const sure = new Set(spans)
    const window = { ...unjudged, found: all.filter((span) => sure.has(span) || isOpen(unjudged, span)) }
    // Of a match that is held back, the whole may not have come yet; there is nothing to mask where all was given.
    const isUnsure = found.spans?.length && spans.length === 0 && !found.texts && (this.#isKnown || this.#rule.masks)
    const isSure = found.hit && !isUnsure
    const tell = (outcome: OutcomeWord) =>
      exchange.tell(this.#rule, 'output', judgement, outcome, spans.length || undefined)
    if (!isSure) {
      exchange.tell(this.#rule, 'output', { milliseconds: judgement.milliseconds, found: { hit: false } }, 'passed')
      return this.#pass(window)
    }
    switch (found.action ?? this.#rule.action) {
      case 'flag':
        tell('flagged')
        return this.#pass(window)
      case 'mask':
        tell('masked')
        return this.#masked(
          window,
          found.spans?.length || found.texts ? spans : allOf(window.texts.map(ungiven)),
          found.texts,
        )
      case 'deny':
        tell('denied')
        return this.#denied(window, spans, found.message)
      case 'retry':
      case 'fallback': {
        const isRetry = this.#rule.action === 'retry'
        const { isLast, scope, denied } = this.#around
        const options = { tags: ['guard'], retry: isRetry ? 'same' : 'other' } as const
        const fail = new GatewayError('content_filter', { reason: this.#rule.message }, options)
        // What bounds the tries bounds those of guards, too, and an answer that was denied stays so.
        const isBound = denied !== undefined || scope.tries?.follows(fail) !== true
        if (isBound || (isRetry ? !exchange.retry(this.#rule) : isLast)) {
          tell('denied')
          return this.#denied(window, spans, found.message)
        }
        tell(isRetry ? 'retried' : 'fallback')
        return { fail }
      }
    }
  }

  #denied(window: Window, spans: readonly PartSpan[], message = this.#rule.message): Verdict {
    this.#around.denied ??= message
    return this.#denial.verdict(window.held, this.#around.denied, this.#before(window, spans))
  }

  /** The events of a stream before the first place of which the client has nothing, and the text before that. */
  #before(window: Window, spans: readonly PartSpan[]): readonly GenerateEvent[] {
    const ends = startsOf(window, spans)
    const segments = [...window.segments, ...window.waiting]
    const cut = segments.find((one) => ends?.has(one))
    if (!this.#isKnown || this.#rule.stream === 'full' || !this.#request.stream || !ends || !cut) return []
    this.#giveBefore(cut)
    const outputs = new Map<Segment, string>(segments.map((one) => [one, '']))
    for (const segment of segments.slice(0, segments.indexOf(cut)))
      if (window.segments.includes(segment))
        outputs.set(segment, this.#outputOf(segment, window.texts, new Map(), undefined))
    if (!cut.call) outputs.set(cut, (cut.before + cut.text).slice(cut.given, ends.get(cut)))
    change(cut)
    const all = [...this.#queue, ...window.placed]
    const own = all.findIndex((one) => isOf(one, cut)) + (cut.call ? 0 : 1)
    const next = all.findIndex((one) => [...ends.keys()].some((segment) => isOf(one, segment)))
    const placed = all.slice(0, own > 0 ? own : Math.max(0, next))
    // A call without its end is not shown.
    const calls = segments.filter(({ call, index }) => call && !placed.some((one) => endsItem(one.event, index)))
    const whole = placed.filter((one) => !calls.some((call) => isOf(one, call)))
    for (const call of calls) outputs.set(call, '')
    // Texts without an event of their own in this window are given at the end.
    const end: PlacedEvent = { event: { type: 'finish', stop: 'filter' }, segment: undefined }
    return released([...whole, end], { outputs, isHeld: () => false }).given.filter(({ type }) => type !== 'finish')
  }

  /** The places of which the beginning is not held back any more, and of which the client has not everything. */
  #sureSpans(window: Window, spans: readonly PartSpan[]): readonly PartSpan[] {
    return spans.filter((span) => {
      const { segment } = window.texts[span.text] as WindowText
      if (!segment || segment.call?.isJson === true) return true
      const [first] = beginningsOf(window, segment, span)
      const { text: index, start } = first ?? span
      const { segment: owner = segment } = window.texts[index] as WindowText
      // What has been found in a text is sure with its end, whatever follows.
      if (start >= owner.given) return segment.isOver || start < this.#until(owner)
      if (span.end <= segment.given) return false
      // What begins in what the client has goes on a match, or it has lost the letter before it.
      return first !== undefined || segment.open !== undefined || !segment.isCut || start > 1
    })
  }

  /** Index up to which a text is given, unless a place begins before it. */
  #until(segment: Segment): number {
    let until = this.#untils.get(segment)
    if (until === undefined) this.#untils.set(segment, (until = this.#untilOf(segment)))
    return until
  }

  #untilOf(segment: Segment): number {
    const text = segment.before + segment.text
    if (this.#isFinal) return text.length
    // Texts of one line are given in their order.
    const { isOver, mayGoOn } = segment
    const last = partBefore(segment)
    if (last?.isOver === true && last.before.length + last.text.length > this.#until(last)) return segment.given
    if (isOver && !mayGoOn) return text.length
    const tail = isOver ? Math.max(0, this.#tail - this.#segments.after(segment)) : this.#tail
    const until = Math.max(segment.given, text.length - tail)
    const code = text.charCodeAt(until - 1)
    // A pair of surrogates is one character.
    return code >= 0xd8_00 && code <= 0xdb_ff && until < text.length ? until - 1 : until
  }

  /** What stands before a place that was found is given with it: nothing goes on from there. */
  #giveBefore(segment: Segment | undefined): void {
    for (let one = partBefore(segment); one; one = partBefore(one))
      this.#untils.set(one, one.before.length + one.text.length)
  }

  #pass(window: Window): Verdict {
    return this.#given(window, new Map(), undefined)
  }

  #masked(window: Window, spans: readonly PartSpan[], others: FoundTexts): Verdict {
    const masks = new Map<Span, string>()
    for (const [, own] of Map.groupBy(spans, ({ text }) => text))
      for (const span of joinedParts(own)) {
        const { text, segment } = window.texts[span.text] as WindowText
        const { begun = 0, way = 0 } = span
        const joint = begun > 0 ? segment?.joints.at(way) : undefined
        const start = joint?.text.slice(-begun) ?? ''
        const mask = maskOf(
          this.#rule,
          span.entity,
          start + text.slice(span.start, span.end),
          this.#around.masking(this.#request),
        )
        const places = [...beginningsOf(window, segment, span), span]
        // What the client has of it may be a mask already.
        const isBegun = joint?.isBegun === true
        for (const [number, place] of places.entries()) masks.set(place, number === 0 && !isBegun ? mask : '')
        if (segment && span.end === text.length) segment.endsMasked = true
        this.#giveBefore(segment)
      }
    return this.#given(window, masks, others)
  }

  /** The events of a window, with what may be given of its texts, and masks in them. */
  #given(window: Window, masks: ReadonlyMap<Span, string>, others: FoundTexts): Verdict {
    const { held, segments, waiting, texts, found } = window
    const outputs = new Map<Segment, string>()
    for (const segment of segments) outputs.set(segment, this.#outputOf(segment, texts, masks, others))
    for (const segment of waiting) outputs.set(segment, '')
    const next = new Map(segments.map((one) => [one, this.#nextGiven(one, texts, masks)]))
    const isSame =
      window.isSame &&
      this.#queue.length === 0 &&
      waiting.length === 0 &&
      segments.every((one) => one.given === one.before.length && outputs.get(one) === one.text)
    const replaced = asideReplacer(texts, masks, others)
    const events = isSame && !replaced ? held.events : this.#released(window, outputs, next, replaced)
    for (const segment of segments) {
      segment.given = next.get(segment) ?? segment.given
      if (this.#isKnown) continue
      // A window shows again what was given, in which nothing is found twice.
      segment.text = outputs.get(segment) ?? segment.text
      segment.given = segment.before.length + segment.text.length
    }
    this.#segments.close(segments, (segment) => {
      const index = texts.findIndex((one) => one.segment === segment)
      const length = texts[index]?.text.length
      if (length === undefined || !this.#isKnown) return undefined
      if (found === undefined) return segment.open
      // Its end is not sure before all that may belong to it has come.
      const open = found.filter((span) => span.text === index && span.end >= length - this.#tail)
      return open.length === 0 ? undefined : Math.min(...open.map(({ start }) => start))
    })
    const stillHeld = new Set(this.#held)
    for (const joint of segments.flatMap(({ joints }) => joints))
      if (joint.last && !stillHeld.has(joint.last)) joint.last = undefined
    this.#denial.see(events)
    return events === held.events ? 'pass' : { replace: events }
  }

  #released(
    { placed }: Window,
    outputs: ReadonlyMap<Segment, string>,
    next: ReadonlyMap<Segment, number>,
    replaced: ((event: GenerateEvent) => GenerateEvent) | undefined,
  ): readonly GenerateEvent[] {
    const changed = replaced ? placed.map((one) => ({ ...one, event: replaced(one.event) })) : placed
    const { given, queue } = released([...this.#queue, ...changed], {
      outputs,
      isHeld: (one) => !this.#isFinal && (next.get(one) ?? 0) < one.before.length + one.text.length,
    })
    this.#queue = queue
    return given
  }

  /** What is given now of a segment. */
  #outputOf(
    segment: Segment,
    texts: readonly WindowText[],
    masks: ReadonlyMap<Span, string>,
    others: FoundTexts,
  ): string {
    if (segment.call?.isJson === true) return this.#outputOfCall(segment, texts, masks, others)
    const index = texts.findIndex((one) => one.segment === segment)
    const { text } = texts[index] as WindowText
    const other = others?.find((one) => one.text === index)
    if (other) {
      if (other.with !== text) change(segment)
      return other.with.slice(commonStart(other.with, text.slice(0, segment.given)))
    }
    const until = this.#until(segment)
    let output = ''
    let at = segment.given
    for (const [span, mask] of masks) {
      if (span.text !== index || span.end <= at) continue
      change(segment)
      // What the client has of it is a mask already.
      const isKnown = span.start < at && segment.open !== undefined
      output += isKnown ? '' : text.slice(at, Math.max(at, span.start)) + mask
      at = span.end
    }
    return output + text.slice(at, Math.max(at, until))
  }

  #outputOfCall(
    segment: Segment,
    texts: readonly WindowText[],
    masks: ReadonlyMap<Span, string>,
    others: FoundTexts,
  ): string {
    const changes = new Map<string, string>()
    for (const [index, { segment: own, text }] of texts.entries()) {
      if (own !== segment) continue
      const changed = changedText(index, text, masks, others)
      if (changed !== text) changes.set(text, changed)
    }
    if (changes.size === 0) return segment.text
    change(segment)
    return inCall(segment.text, (text) => changes.get(text))
  }

  #nextGiven(segment: Segment, texts: readonly WindowText[], masks: ReadonlyMap<Span, string>): number {
    const index = texts.findIndex((one) => one.segment === segment)
    if (segment.call) return segment.text.length
    const ends = [...masks.keys()].flatMap((span) => (span.text === index ? [span.end] : []))
    return Math.max(this.#until(segment), ...ends)
  }
}

type FoundTexts = Found['texts']

/** What puts masks into the texts beside that of the answer; undefined: there are none. */
function asideReplacer(
  texts: readonly WindowText[],
  masks: ReadonlyMap<Span, string>,
  others: FoundTexts,
): ((event: GenerateEvent) => GenerateEvent) | undefined {
  const changes = new Map<string, string>()
  for (const [index, { segment, text }] of texts.entries()) {
    const changed = segment === undefined ? changedText(index, text, masks, others) : text
    if (changed !== text) changes.set(text, changed)
  }
  return changes.size === 0 ? undefined : (event) => withAsides(event, (text) => changes.get(text))
}

function changedText(index: number, text: string, masks: ReadonlyMap<Span, string>, others: FoundTexts): string {
  const other = others?.find((one) => one.text === index)
  if (other) return other.with
  let given = ''
  let at = 0
  for (const [span, mask] of masks) {
    if (span.text !== index) continue
    given += text.slice(at, span.start) + mask
    at = span.end
  }
  return given + text.slice(at)
}

/** Characters with which two texts begin alike. */
function commonStart(one: string, other: string): number {
  let at = 0
  while (at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}
