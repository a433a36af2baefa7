import { GatewayError } from '../../engine/index.ts'
import type {
  Envelope,
  Gate,
  GenerateEvent,
  HeldEvents,
  Judged,
  JudgedRequest,
  JudgedText,
  Json,
  JsonObject,
  Span,
  Verdict,
} from '../../engine/index.ts'
import { Denial } from './denial.ts'
import type { OutcomeWord } from './exchange.ts'
import { allOf, joined, maskOf } from './masking.ts'
import { askedOf } from './requests.ts'
import type { Around } from './requests.ts'
import type { Judgement, Rule } from './rule.ts'
import { Segments, inCall, placeOf, textsOfCall } from './segments.ts'
import type { PlacedEvent, Segment } from './segments.ts'
import { withTexts } from './texts.ts'

/** A text of a window: that of a segment, one in the input of a call, or one in an item of one protocol. */
interface WindowText extends JudgedText {
  readonly segment: Segment | undefined
  /** Characters of the part before it, with which it is judged once more; 0: none. */
  readonly joint?: number
}

/** A place in a text, and how many characters of it stand in the part before. */
interface PartSpan extends Span {
  readonly begun?: number
}

/** One window while it is judged. */
interface Window {
  readonly held: HeldEvents
  readonly placed: readonly PlacedEvent[]
  readonly segments: readonly Segment[]
  /** Those of a long match of which little more has come. */
  readonly waiting: readonly Segment[]
  readonly texts: readonly WindowText[]
}

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
  #windows = 0
  #asked: JudgedRequest | undefined

  constructor(rule: Rule, request: Envelope, around: Around) {
    this.#rule = rule
    this.#request = request
    this.#around = around
    const isKnown = rule.longest !== undefined && rule.stream !== 'full'
    this.#isKnown = isKnown
    const { characters, time, overlap } = rule.window
    this.#tail = isKnown ? rule.longest - 1 : 0
    this.overlap = overlap
    this.calls = rule.coversPart('call')
    this.together = isKnown
    this.window = isKnown
      ? { characters: 0, time: Infinity }
      : rule.stream === 'full'
        ? { characters: Infinity, time: Infinity }
        : { characters, time }
    this.#segments = new Segments(isKnown ? rule.longest : overlap)
  }

  judge(held: HeldEvents, signal: AbortSignal): Verdict | Promise<Verdict> {
    const { placed, segments } = this.#segments.place(held.events)
    const all = segments.filter(({ kind }) => this.#rule.coversPart(kind))
    const [covered, waiting] = [all.filter((one) => !this.#waits(one)), all.filter((one) => this.#waits(one))]
    const window = { held, placed, segments: covered, waiting, texts: this.#textsOf(covered, held.events) }
    this.#segments.close(segments.filter((one) => !all.includes(one)))
    // Nobody reads it any more.
    if (signal.aborted) return { replace: [] }
    const hasText = window.texts.some(({ text, from }) => text.length > from) || covered.some(({ isOver }) => isOver)
    if (!hasText) {
      if (waiting.length > 0) return this.#pass({ ...window, segments: [] })
      this.#denial.see(held.events)
      return 'pass'
    }
    const judged = this.#judgedOf(window)
    const { host, scope } = this.#around
    // Of several places, only those count whose beginning is not held back.
    const judgement = this.#rule.judge(judged, host, scope, signal, this.#isKnown || this.#rule.masks)
    this.#windows += 1
    return judgement instanceof Promise
      ? judgement.then((late) => this.#decide(window, late))
      : this.#decide(window, judgement)
  }

  /** Of a match that goes on, nothing is given: it is judged again when it has grown by an eighth, in linear time. */
  #waits({ open, isOver, before, text }: Segment): boolean {
    return open !== undefined && !isOver && before.length > 4 * this.#tail && text.length < before.length / 8
  }

  #judgedOf({ held, texts, segments }: Window): Judged {
    const isWhole = held.final && this.#windows === 0
    return {
      texts,
      tool_calls: segments.flatMap(({ call, text }) =>
        call ? [{ id: call.id, name: call.name, arguments: text }] : [],
      ),
      tools: [],
      side: 'output',
      final: held.final,
      window: isWhole ? null : this.#windows,
      request: (this.#asked ??= askedOf(this.#request, this.#around.scope, this.#around.principal)),
    }
  }

  #textsOf(segments: readonly Segment[], events: readonly GenerateEvent[]): readonly WindowText[] {
    const texts = segments.flatMap((segment): WindowText[] => {
      const at = placeOf(segment)
      if (segment.call?.isJson === true)
        return textsOfCall(segment.text).map((text) => ({ at, role: 'assistant', text, from: 0, segment }))
      const { before, text } = segment
      const own: WindowText = { at, role: 'assistant', text: before + text, from: before.length, segment }
      const joint = this.#isKnown && !segment.isCut ? segment.joint.length : 0
      if (joint === 0) return [own]
      return [own, { ...own, text: segment.joint + own.text, from: joint + own.from, joint }]
    })
    if (!this.#rule.coversPart('text')) return texts
    return [...texts, ...events.flatMap((event) => opaqueTexts(event))]
  }

  #decide(window: Window, judgement: Judgement): Verdict {
    const { exchange } = this.#around
    if ('failed' in judgement) {
      exchange.tell(this.#rule, 'output', judgement, 'error')
      if (!this.#rule.isClosed) return this.#pass(window)
      // Nobody reads it any more, so nothing has to be told; what is stored is what was judged.
      if (judgement.failed === 'left') return { replace: [] }
      return { fail: new GatewayError('guard_unavailable', { guard: this.#rule.name }) }
    }
    const { found } = judgement
    const spans = found.hit ? this.#sureSpans(window, ownSpans(window, found.spans ?? [])) : []
    // Of a match that is held back, the whole may not have come yet; there is nothing to mask where all was given.
    const isUnsure = found.spans?.length && spans.length === 0 && !found.texts && (this.#isKnown || this.#rule.masks)
    const isSure = found.hit && !isUnsure
    const tell = (outcome: OutcomeWord) =>
      exchange.tell(this.#rule, 'output', judgement, outcome, spans.length || undefined)
    if (!isSure) {
      exchange.tell(this.#rule, 'output', { milliseconds: judgement.milliseconds, found: { hit: false } }, 'passed')
      return this.#pass(window, spans)
    }
    switch (found.action ?? this.#rule.action) {
      case 'flag':
        tell('flagged')
        return this.#pass(window)
      case 'mask':
        tell('masked')
        return this.#masked(window, found.spans?.length || found.texts ? spans : allOf(window.texts), found.texts)
      case 'deny':
        tell('denied')
        return this.#denial.verdict(window.held, found.message ?? this.#rule.message)
      case 'retry':
      case 'fallback': {
        const isRetry = this.#rule.action === 'retry'
        const { isLast, isSpent } = this.#around
        if (isRetry ? isSpent === true || !exchange.retry(this.#rule) : isLast) {
          tell('denied')
          return this.#denial.verdict(window.held, found.message ?? this.#rule.message)
        }
        tell(isRetry ? 'retried' : 'fallback')
        const options = { tags: ['guard'], retry: isRetry ? 'same' : 'other' } as const
        return { fail: new GatewayError('content_filter', { reason: this.#rule.message }, options) }
      }
    }
  }

  /** The places of which the beginning is not held back any more, and of which the client has not everything. */
  #sureSpans({ texts }: Window, spans: readonly Span[]): readonly Span[] {
    return spans.filter(({ text: index, start, end }) => {
      const { segment, text } = texts[index] as WindowText
      if (!segment || segment.call?.isJson === true) return true
      if (start >= segment.given) return start < this.#until(segment, text)
      if (end <= segment.given) return false
      // What begins in what the client has goes on a match, or it has lost the letter before it.
      return segment.open !== undefined || !segment.isCut || start > 1
    })
  }

  /** Index up to which a text is given, unless a place begins before it. */
  #until(segment: Segment, text: string): number {
    if (segment.isOver) return text.length
    const until = Math.max(segment.given, text.length - this.#tail)
    const code = text.charCodeAt(until - 1)
    // A pair of surrogates is one character.
    return code >= 0xd8_00 && code <= 0xdb_ff && until < text.length ? until - 1 : until
  }

  #pass(window: Window, spans: readonly Span[] = []): Verdict {
    return this.#given(window, spans, new Map(), undefined)
  }

  #masked(window: Window, spans: readonly Span[], others: FoundTexts): Verdict {
    const masks = new Map<Span, string>()
    for (const [, own] of Map.groupBy(spans, ({ text }) => text))
      for (const span of joined(own)) {
        const { text, segment } = window.texts[span.text] as WindowText
        const { begun = 0 } = span as PartSpan
        const start = segment && begun > 0 ? segment.joint.slice(-begun) : ''
        const mask = maskOf(
          this.#rule,
          span.entity,
          start + text.slice(span.start, span.end),
          this.#around.masking(this.#request),
        )
        const places = [...beginningsOf(window, segment, begun), span]
        for (const [number, place] of places.entries()) masks.set(place, number === 0 ? mask : '')
      }
    return this.#given(window, spans, masks, others)
  }

  /** The events of a window, with what may be given of its texts, and masks in them. */
  #given(window: Window, spans: readonly Span[], masks: ReadonlyMap<Span, string>, others: FoundTexts): Verdict {
    const { held, placed, segments, waiting, texts } = window
    const outputs = new Map<Segment, string>()
    for (const segment of segments) outputs.set(segment, this.#outputOf(segment, texts, masks, others))
    for (const segment of waiting) outputs.set(segment, '')
    const isSame =
      waiting.length === 0 && segments.every((one) => one.given === one.before.length && outputs.get(one) === one.text)
    const replaced = opaqueReplacer(texts, masks, others)
    const events = isSame && !replaced ? held.events : eventsWith(placed, outputs, replaced)
    for (const segment of segments) {
      segment.given = this.#nextGiven(segment, texts, masks)
      if (this.#isKnown) continue
      // A window shows again what was given, in which nothing is found twice.
      segment.text = outputs.get(segment) ?? segment.text
      segment.given = segment.before.length + segment.text.length
    }
    this.#segments.close(segments, (segment) => {
      const index = texts.findIndex((one) => one.segment === segment)
      const length = texts[index]?.text.length
      if (length === undefined || !this.#isKnown) return undefined
      // Its end is not sure before all that may belong to it has come.
      const open = spans.filter((span) => span.text === index && span.end >= length - this.#tail)
      return open.length === 0 ? undefined : Math.min(...open.map(({ start }) => start))
    })
    this.#denial.see(events)
    return events === held.events ? 'pass' : { replace: events }
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
      segment.isChanged ||= other.with !== text
      return other.with.slice(commonStart(other.with, text.slice(0, segment.given)))
    }
    const until = this.#until(segment, text)
    let output = ''
    let at = segment.given
    for (const [span, mask] of masks) {
      if (span.text !== index || span.end <= at) continue
      segment.isChanged = true
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
    segment.isChanged = true
    return inCall(segment.text, (text) => changes.get(text))
  }

  #nextGiven(segment: Segment, texts: readonly WindowText[], masks: ReadonlyMap<Span, string>): number {
    const index = texts.findIndex((one) => one.segment === segment)
    const text = texts[index]?.text ?? segment.text
    if (segment.call) return segment.text.length
    const ends = [...masks.keys()].flatMap((span) => (span.text === index ? [span.end] : []))
    return Math.max(this.#until(segment, text), ...ends)
  }
}

/** The places in the texts of segments: of a text with the part before it, those that go over both. */
function ownSpans({ texts }: Window, spans: readonly Span[]): readonly PartSpan[] {
  return spans.flatMap((span): readonly PartSpan[] => {
    const { joint = 0 } = texts[span.text] as WindowText
    if (joint === 0) return [span]
    if (span.start >= joint || span.end <= joint) return []
    return [{ ...span, text: span.text - 1, start: 0, end: span.end - joint, begun: joint - span.start }]
  })
}

/** Where a place begins that goes on from the parts before, as far as they are in the same window. */
function beginningsOf({ texts }: Window, segment: Segment | undefined, begun: number): readonly Span[] {
  const places: Span[] = []
  let rest = begun
  for (let last = segment?.last; last !== undefined && rest > 0; last = last.last) {
    const index = texts.findIndex((one) => one.segment === last)
    const end = texts[index]?.text.length
    if (end === undefined) break
    const start = Math.max(0, end - rest)
    if (start < end) places.unshift({ text: index, start, end })
    rest -= end - start
  }
  return places
}

type FoundTexts = readonly { readonly text: number; readonly with: string }[] | undefined

/** The events with other texts: each text stands at its first event, and what belongs to the old text goes. */
function eventsWith(
  placed: readonly PlacedEvent[],
  outputs: ReadonlyMap<Segment, string>,
  replaced: ((event: GenerateEvent) => GenerateEvent) | undefined,
): readonly GenerateEvent[] {
  const waiting = new Map(outputs)
  const given: GenerateEvent[] = []
  const give = (segment: Segment) => {
    const text = waiting.get(segment) ?? ''
    waiting.delete(segment)
    if (text !== '') given.push({ type: 'delta', index: segment.index, text })
  }
  for (const { event, segment } of placed) {
    if (segment === undefined || !outputs.has(segment)) {
      if (event.type === 'finish' || event.type === 'failure') for (const one of waiting.keys()) give(one)
      given.push(replaced ? replaced(event) : event)
      continue
    }
    if (segment.call) {
      // The call opens with its own input.
      if (event.type === 'item-end') give(segment)
      if (event.type !== 'delta') given.push(event)
      continue
    }
    give(segment)
    if (event.type === 'delta' || (event.type === 'seal' && segment.isChanged)) continue
    const kept = event.type === 'annotation' && segment.isChanged ? annotationWithout(event) : event
    if (kept) given.push(kept)
  }
  return given
}

/** An annotation of a text that was changed: its place is not known any more. */
function annotationWithout(event: Extract<GenerateEvent, { type: 'annotation' }>): GenerateEvent | undefined {
  const { annotation } = event
  if (annotation.type === 'opaque') return undefined
  const { url, title } = annotation
  return { ...event, annotation: { type: 'url', url, title, start: 0, end: 0 } }
}

/** The texts in an item that only one protocol has. */
function opaqueTexts(event: GenerateEvent): readonly WindowText[] {
  const value = opaqueIn(event)
  if (value === undefined) return []
  const texts: WindowText[] = []
  const { index } = event as { readonly index: number }
  withTexts({ content: [value] }, '', ({ text }) => {
    texts.push({ at: `output[${index}]`, role: 'assistant', text, from: 0, segment: undefined })
    return undefined
  })
  return texts
}

function opaqueIn(event: GenerateEvent): JsonObject | undefined {
  if (event.type === 'progress') return event.value
  return event.type === 'item' && event.item.type === 'opaque' ? event.item.value : undefined
}

/** What puts masks into items that only one protocol has; undefined: there are none. */
function opaqueReplacer(
  texts: readonly WindowText[],
  masks: ReadonlyMap<Span, string>,
  others: FoundTexts,
): ((event: GenerateEvent) => GenerateEvent) | undefined {
  const changes = new Map<string, string>()
  for (const [index, { segment, text }] of texts.entries()) {
    const changed = segment === undefined ? changedText(index, text, masks, others) : text
    if (changed !== text) changes.set(text, changed)
  }
  if (changes.size === 0) return undefined
  const change = (value: JsonObject): JsonObject => {
    const { content } = withTexts({ content: [value] }, '', ({ text }) => changes.get(text))
    return (content as readonly Json[])[0] as JsonObject
  }
  return (event) => {
    if (event.type === 'progress') return { ...event, value: change(event.value) }
    if (event.type !== 'item' || event.item.type !== 'opaque') return event
    return { ...event, item: { ...event.item, value: change(event.item.value) } }
  }
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
