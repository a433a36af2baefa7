import { isObject } from '../../engine/kit.ts'
import type { Annotation, GenerateEvent, Item, Json, JsonObject, Part } from '../../engine/index.ts'
import type { Rule } from './rule.ts'
import { withTexts } from './texts.ts'

/** The text in place of another; undefined: it stays. */
type Replace = (text: string) => string | undefined

/** A value with other texts. */
type Change = <T>(value: T) => T

/**
 * The texts of an event that stand beside the text of the answer: of citations, of items and fields that only one
 * protocol has, of what an item opens with, and of a failure. Seals, names, ids and media are none.
 */
export function asidesIn(event: GenerateEvent, rule: Rule): readonly string[] {
  if (event.type === 'delta' || !covers(event, rule)) return []
  const texts: string[] = []
  withAsides(event, (text) => void texts.push(text))
  return texts
}

/** The event with other texts beside that of the answer. */
export function withAsides(event: GenerateEvent, replace: Replace): GenerateEvent {
  const change: Change = (value) => {
    const { content } = withTexts({ content: [value as Json] }, '', ({ text }) => replace(text))
    return (content as readonly Json[])[0] as typeof value
  }
  switch (event.type) {
    case 'item':
      return { ...event, item: itemWith(event.item, change) }
    case 'annotation':
      return { ...event, annotation: annotationWith(event.annotation, change) }
    case 'progress':
      return { ...event, value: change(event.value) }
    case 'finish': {
      const { stopSequence, rest } = event
      return {
        ...event,
        ...(stopSequence === undefined ? {} : { stopSequence: change(stopSequence) }),
        ...(rest ? { rest: { ...rest, fields: fieldsWith(rest.fields, change) } } : {}),
      }
    }
    case 'failure':
      return { ...event, failure: { ...event.failure, message: change(event.failure.message) } }
    default:
      return event
  }
}

function annotationWith(annotation: Annotation, change: Change): Annotation {
  if (annotation.type === 'opaque') return { ...annotation, value: change(annotation.value) }
  const { url, title, own } = annotation
  const told = { ...annotation, ...change({ url, title }) }
  return own ? { ...told, own: { ...own, value: change(own.value) } } : told
}

function partWith(part: Part, change: Change): Part {
  switch (part.type) {
    case 'text': {
      const { text, annotations } = part
      const kept = annotations && { annotations: annotations.map((one) => annotationWith(one, change)) }
      return { ...part, text: change(text), ...kept }
    }
    case 'refusal':
      return { ...part, text: change(part.text) }
    case 'opaque':
      return { ...part, value: change(part.value) }
    default: {
      const { source, ...told } = part
      return { ...change(told), source: source.kind === 'text' || source.kind === 'url' ? change(source) : source }
    }
  }
}

function itemWith(item: Item, change: Change): Item {
  switch (item.type) {
    case 'message':
    case 'result':
      return { ...item, content: item.content.map((part) => partWith(part, change)) }
    case 'reasoning':
      return { ...item, parts: item.parts.map((part) => ({ ...part, text: change(part.text) })) }
    case 'opaque': {
      const { value, search, instead } = item
      return {
        ...item,
        value: change(value),
        ...(search ? { search: change(search) } : {}),
        ...(instead ? { instead: { ...instead, content: instead.content.map((part) => partWith(part, change)) } } : {}),
      }
    }
    // Its input is a text of its own.
    case 'call':
      return item
  }
}

/** Fields of answers that hold words of the protocol alone. */
const words = new Set(
  (
    'safetyRatings promptFeedback moderation context_management access_programs prompt_cache_retention ' +
    'prompt_cache_options prompt_cache_diagnostics'
  ).split(' '),
)

function fieldsWith(fields: JsonObject, change: Change): JsonObject {
  const entries = Object.entries(fields).map(([name, value = null]): [string, Json] => {
    if (words.has(name)) return [name, value]
    return [name, name === 'candidate' && isObject(value) ? fieldsWith(value, change) : change(value)]
  })
  return Object.fromEntries(entries)
}

/** Whether a guard judges the texts of an event. What a provider's own tools are called with is a call, too. */
function covers(event: GenerateEvent, rule: Rule): boolean {
  // Another try, or another provider, is no answer to a failure.
  if (event.type === 'failure') return rule.coversPart('text') && changes(rule)
  if (event.type === 'item' && event.item.type === 'reasoning') return rule.coversPart('reasoning')
  return rule.coversPart('text') || (rule.coversPart('call') && isCall(event))
}

function isCall(event: GenerateEvent): boolean {
  const value =
    event.type === 'progress'
      ? event.value
      : event.type === 'item' && event.item.type === 'opaque'
        ? event.item.value
        : undefined
  if (value === undefined) return false
  const { type } = value
  return typeof type === 'string' ? /(_call|tool_use|approval_request)(?![a-z])/.test(type) : 'executableCode' in value
}

function changes({ action }: Rule): boolean {
  return action === 'mask' || action === 'deny'
}

/** Events without what repeats a text in pieces that cannot be judged; the same list where there is nothing of it. */
export function unrepeatedIn(events: readonly GenerateEvent[], rule: Rule): readonly GenerateEvent[] {
  const isSame = events.every((event) => unrepeated(event, rule) === event)
  return isSame ? events : events.flatMap((event) => unrepeated(event, rule) ?? [])
}

/**
 * The event without log probabilities, which tell the tokens and others in their place, and without quotes of the
 * answer; undefined: it is a piece of what an item will hold in full. Where nothing goes, it is the same event.
 */
function unrepeated(event: GenerateEvent, rule: Rule): GenerateEvent | undefined {
  if (!changes(rule) || !covers(event, rule)) return event
  switch (event.type) {
    case 'delta': {
      if (event.logprobs === undefined) return event
      const { logprobs: _, ...said } = event
      return said
    }
    case 'progress':
      return event.piece === true ? undefined : event
    case 'item': {
      const { item } = event
      if (item.type === 'message' && item.content.some((part) => part.type === 'text' && part.logprobs))
        return { ...event, item: { ...item, content: item.content.map(unmeasured) } }
      if (item.type !== 'opaque') return event
      const value = unquoted(item.value)
      return value === item.value ? event : { ...event, item: { ...item, value } }
    }
    case 'finish': {
      const { rest } = event
      const { candidate } = rest?.fields ?? {}
      if (!rest || !isObject(candidate)) return event
      const said = unquoted(candidate)
      return said === candidate ? event : { ...event, rest: { ...rest, fields: { ...rest.fields, candidate: said } } }
    }
    default:
      return event
  }
}

function unmeasured(part: Part): Part {
  if (part.type !== 'text') return part
  const { logprobs: _, ...said } = part
  return said
}

/** What a search found, without the pieces of the answer that it supports: their places are enough. */
function unquoted(value: JsonObject): JsonObject {
  const { groundingMetadata: found } = value
  const supports = isObject(found) ? found['groundingSupports'] : undefined
  if (!isObject(found) || !Array.isArray(supports)) return value
  const places = supports.map((support: Json): Json => {
    const segment = isObject(support) ? support['segment'] : undefined
    if (!isObject(support) || !isObject(segment) || segment['text'] === undefined) return support
    const { text: _, ...place } = segment
    return { ...support, segment: place }
  })
  const isSame = places.every((place, index) => place === supports[index])
  return isSame ? value : { ...value, groundingMetadata: { ...found, groundingSupports: places } }
}
