import type { SlotName, Slots } from '../spec/slots.ts'

/** The slots of one exchange. Steps add to it; stages see it as read-only. */
export type Bag = { -readonly [K in SlotName]?: Slots[K] }

/** Copies one slot that is there. */
export type Put = (into: Bag, from: Bag) => void

/**
 * How the house's own slots are copied. A function for each, because this is done some twenty times per request: V8 finds a
 * property by a fixed name without a search, and by a name that changes with one.
 */
const own: { readonly [K in SlotName]?: Put } = {
  ingress: (into, { ingress }) => ingress === undefined || (into.ingress = ingress),
  job: (into, { job }) => job === undefined || (into.job = job),
  principal: (into, { principal }) => principal === undefined || (into.principal = principal),
  request: (into, { request }) => request === undefined || (into.request = request),
  target: (into, { target }) => target === undefined || (into.target = target),
  candidates: (into, { candidates }) => candidates === undefined || (into.candidates = candidates),
  model: (into, { model }) => model === undefined || (into.model = model),
  upstream: (into, { upstream }) => upstream === undefined || (into.upstream = upstream),
  answer: (into, { answer }) => answer === undefined || (into.answer = answer),
  reply: (into, { reply }) => reply === undefined || (into.reply = reply),
  meter: (into, { meter }) => meter === undefined || (into.meter = meter),
  outcome: (into, { outcome }) => outcome === undefined || (into.outcome = outcome),
}

/** How slots are copied, one after the other. */
export function puts(slots: readonly SlotName[]): readonly Put[] {
  return slots.map((slot) => (Object.hasOwn(own, slot) && own[slot]) || putNamed(slot))
}

/** Slots of plugins. */
function putNamed(slot: SlotName): Put {
  return (into, from) => {
    const value = from[slot]
    if (value !== undefined) (into as Record<string, unknown>)[slot] = value
  }
}
