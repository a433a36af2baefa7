import type { SlotName, Slots } from '../spec/slots.ts'

/** The slots of one exchange. Steps add to it; stages see it as read-only. */
export type Bag = { -readonly [K in SlotName]?: Slots[K] }

/** Copies one slot that is there; answers false where it is not. */
export type Put = (into: Bag, from: Bag) => boolean

/**
 * How the gateway's own slots are copied. A function for each, because this is done some twenty times per request: V8 finds a
 * property by a fixed name without a search, and by a name that changes with one.
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

/** How slots are copied, one after the other. */
export function puts(slots: readonly SlotName[]): readonly Put[] {
  return slots.map((slot) => (Object.hasOwn(own, slot) && own[slot]) || putNamed(slot))
}

/** Slots of plugins. */
function putNamed(slot: SlotName): Put {
  return (into, from) => {
    const value = from[slot]
    if (value === undefined) return false
    ;(into as Record<string, unknown>)[slot] = value
    return true
  }
}

/** Whether what a stage gives is still to come. A plugin may have a promise of another kind than V8's. */
export function isPromise<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  return given instanceof Promise || typeof (given as PromiseLike<T> | undefined)?.then === 'function'
}
