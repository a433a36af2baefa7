import type { SlotName, Slots } from '../spec/slots.ts'

/** The slots of one exchange. Steps add slots; stages see them as read-only. */
export type Bag = { -readonly [K in SlotName]?: Slots[K] }

/** Copies one slot if it is set. Returns false if it is not. */
export type Put = (into: Bag, from: Bag) => boolean

/**
 * Copiers of the engine's slots. Each slot has a function of its own, because copies happen some twenty times per
 * request: V8 accesses a property with a fixed name without a lookup, and one with a variable name with a lookup.
 */
const own: { readonly [K in SlotName]?: Put } = {
  ingress: (into, { ingress }) => ingress !== undefined && Boolean((into.ingress = ingress)),
  job: (into, { job }) => job !== undefined && Boolean((into.job = job)),
  principal: (into, { principal }) => principal !== undefined && Boolean((into.principal = principal)),
  request: (into, { request }) => request !== undefined && Boolean((into.request = request)),
  target: (into, { target }) => target !== undefined && Boolean((into.target = target)),
  candidates: (into, { candidates }) => candidates !== undefined && Boolean((into.candidates = candidates)),
  model: (into, { model }) => model !== undefined && Boolean((into.model = model)),
  upstream: (into, { upstream }) => upstream !== undefined && Boolean((into.upstream = upstream)),
  answer: (into, { answer }) => answer !== undefined && Boolean((into.answer = answer)),
  reply: (into, { reply }) => reply !== undefined && Boolean((into.reply = reply)),
  measurement: (into, { measurement }) => measurement !== undefined && Boolean((into.measurement = measurement)),
  outcome: (into, { outcome }) => outcome !== undefined && Boolean((into.outcome = outcome)),
  bill: (into, { bill }) => bill !== undefined && Boolean((into.bill = bill)),
}

/** Copiers for some slots, in order. */
export function puts(slots: readonly SlotName[]): readonly Put[] {
  return slots.map((slot) => (Object.hasOwn(own, slot) && own[slot]) || putNamed(slot))
}

/** The copier for a slot of a plugin. */
function putNamed(slot: SlotName): Put {
  return (into, from) => {
    const value = from[slot]
    if (value === undefined) return false
    ;(into as Record<string, unknown>)[slot] = value
    return true
  }
}

/** Whether a result is a promise. A plugin may return a thenable that is not a native promise. */
export function isPromise<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  return given instanceof Promise || typeof (given as PromiseLike<T> | undefined)?.then === 'function'
}
