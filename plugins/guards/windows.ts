import type { HeldEvents, JudgedText, Span } from '../../engine/index.ts'
import { joined } from './masking.ts'
import { partBefore, placeOf } from './segments.ts'
import type { PlacedEvent, Segment, Way } from './segments.ts'

/** A text of a window: that of a segment, one in the input of a call, or one beside the text of the answer. */
export interface WindowText extends JudgedText {
  readonly segment: Segment | undefined
  /** Characters of the part before it, with which it is judged once more; 0: none. */
  readonly joint?: number
  /** Which part that is. */
  readonly way?: Way
}

/** A place in a text, and how many characters of it stand in the part before, and which that is. */
export interface PartSpan extends Span {
  readonly begun?: number
  readonly way?: Way
}

/** One window while it is judged. */
export interface Window {
  readonly held: HeldEvents
  readonly placed: readonly PlacedEvent[]
  /** Those of which something may be given. */
  readonly segments: readonly Segment[]
  /** Those of a long match of which little more has come. */
  readonly waiting: readonly Segment[]
  /** Whether no event has lost anything. */
  readonly isSame: boolean
  /** What is judged, and then the texts of which something is held. */
  readonly texts: readonly WindowText[]
  /** Places that begin in what is given, which may go on; undefined: it was not judged. */
  readonly found?: readonly PartSpan[]
}

export function ownText(segment: Segment): WindowText {
  const { before, text } = segment
  return { at: placeOf(segment), role: 'assistant', text: before + text, from: before.length, segment }
}

/** The places in the texts of segments: of a text with the part before it, those that go over both. */
export function ownSpans({ texts }: Window, spans: readonly Span[]): readonly PartSpan[] {
  return spans.flatMap((span): readonly PartSpan[] => {
    const { joint = 0, way = 0 } = texts[span.text] as WindowText
    if (joint === 0) return [span]
    if (span.start >= joint || span.end <= joint) return []
    // Its own text stands before those with others.
    const text = span.text - (way === 0 ? 1 : 2)
    return [{ ...span, text, start: 0, end: span.end - joint, begun: joint - span.start, way }]
  })
}

/** Whether a place begins in what is given, as a match that goes on. */
export function isOpen({ texts }: Window, { text, start }: Span): boolean {
  const { segment } = texts[text] as WindowText
  return segment?.open !== undefined && start < segment.given
}

/** Places that overlap as one, which begins where the first of them does. */
export function joinedParts(spans: readonly PartSpan[]): readonly PartSpan[] {
  const [{ begun = 0, way = 0 } = {}] = spans.toSorted((one, other) => (other.begun ?? 0) - (one.begun ?? 0))
  // What begins in the part before stands first.
  return joined(spans).map((one, index) => (index === 0 && one.start === 0 && begun > 0 ? { ...one, begun, way } : one))
}

/** Where a place begins that goes on from the parts before, as far as something of them is held. */
export function beginningsOf(
  { texts }: Window,
  segment: Segment | undefined,
  { begun: rest = 0, way }: PartSpan,
): readonly Span[] {
  const places: Span[] = []
  for (let last = partBefore(segment, way); last !== undefined && rest > 0; last = partBefore(last, way)) {
    const index = texts.findIndex((one) => one.segment === last)
    const end = texts[index]?.text.length
    if (end === undefined) break
    const start = Math.max(0, end - rest)
    if (start < end) places.unshift({ text: index, start, end })
    rest -= end - start
  }
  return places
}

/** Where the first place begins in each text, and in those that it goes on; undefined: one is beside the answer's text. */
export function startsOf(window: Window, spans: readonly PartSpan[]): ReadonlyMap<Segment, number> | undefined {
  const starts = new Map<Segment, number>()
  for (const span of spans)
    for (const { text, start } of [...beginningsOf(window, window.texts[span.text]?.segment, span), span]) {
      const segment = window.texts[text]?.segment
      if (segment === undefined) return undefined
      starts.set(segment, Math.min(start, starts.get(segment) ?? start))
    }
  return starts
}

/** A text from where the client has nothing of it, and once. */
export function ungiven({ text, from, segment, joint }: WindowText): Pick<JudgedText, 'text' | 'from'> {
  if (joint !== undefined) return { text: '', from: 0 }
  return { text, from: segment ? Math.min(from, segment.given) : from }
}
