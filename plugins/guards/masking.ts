import { createHmac } from 'node:crypto'
import type { Found, JudgedText, Span } from '../../engine/index.ts'
import type { Rule } from './rule.ts'
import type { TokenTable } from './token-table.ts'

/** What the masks of one exchange are made with. */
export interface Masking {
  /** Key of the hashes. */
  readonly hashKey: Buffer
  /** Id of the API key: the hashes of two keys differ. */
  readonly keyId: string
  readonly tokens: TokenTable
  /** Whether the client itself has sent what is masked, so that it alone gets it back. */
  readonly isOwn: boolean
}

/** What takes the place of a value that a rule has found. */
export function maskOf(rule: Rule, entity: string | undefined, value: string, masking: Masking): string {
  const label = (entity ?? rule.name).toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
  switch (rule.record.mask) {
    case 'redact':
      return `[${label}]`
    case 'hash': {
      const digest = createHmac('sha256', masking.hashKey).update(`${masking.keyId}\n${value}`).digest('hex')
      return `[${label}:${digest.slice(0, 8)}]`
    }
    case 'token':
      return masking.tokens.tokenOf(label, value, masking.isOwn)
  }
}

/** A place whose mask is known: it is a part of one that goes over several texts. */
export interface MaskedSpan extends Span {
  readonly mask?: string
}

/** Texts with masks in place of what a rule has found in them, by the number of the text; those that stay are left out. */
export function masked(
  rule: Rule,
  found: Found,
  texts: readonly Pick<JudgedText, 'text'>[],
  masking: Masking,
): ReadonlyMap<number, string> {
  const changed = new Map<number, string>()
  if (!found.hit) return changed
  for (const { text, with: other } of found.texts ?? []) changed.set(text, other)
  const placed = found.spans?.length || found.texts ? (found.spans ?? []) : allOf(texts)
  for (const [index, spans] of Map.groupBy(placed, ({ text }) => text)) {
    const text = texts[index]?.text ?? ''
    if (!changed.has(index))
      changed.set(
        index,
        withMasks(text, spans, (span: MaskedSpan, value) => span.mask ?? maskOf(rule, span.entity, value, masking)),
      )
  }
  return changed
}

/** All of the texts: where something is in them, but not where, nothing of them may stay. */
export function allOf(texts: readonly { readonly text: string; readonly from?: number }[]): readonly Span[] {
  return texts.map(({ text, from = 0 }, index) => ({ text: index, start: from, end: text.length }))
}

/** A text with others in place of its spans; of spans that overlap, the first counts, to the end of the last. */
function withMasks(text: string, spans: readonly Span[], mask: (span: Span, value: string) => string): string {
  let given = ''
  let at = 0
  for (const span of joined(spans)) {
    given += text.slice(at, span.start) + mask(span, text.slice(span.start, span.end))
    at = span.end
  }
  return given + text.slice(at)
}

/** Spans in order, of which none overlaps another. */
export function joined(spans: readonly Span[]): readonly Span[] {
  const apart: Span[] = []
  for (const span of spans.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    const last = apart.at(-1)
    if (last && span.start < last.end) apart[apart.length - 1] = { ...last, end: Math.max(last.end, span.end) }
    else if (span.end > span.start) apart.push(span)
  }
  return apart
}
