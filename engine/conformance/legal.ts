import { deepEqual, equal, ok } from 'node:assert/strict'
import type { GenerateEvent, Item } from '../spec/generate.ts'
import type { Usage } from '../spec/usage.ts'

/** Asserts the event order that `GenerateEvent` documents; a whole answer has no events to check. */
export function legalEvents(events: readonly GenerateEvent[] | undefined): void {
  if (events === undefined) return
  const [first] = events
  const last = events.at(-1)
  equal(first?.type, 'start', 'the first event is no start')
  ok(last?.type === 'finish' || last?.type === 'failure', 'the last event is neither a finish nor a failure')
  const open = new Map<number, { readonly item: Item; parts: number }>()
  let opened = 0
  events.forEach((event, at) => {
    const place = `event ${at} (${event.type})`
    switch (event.type) {
      case 'start':
        equal(at, 0, `${place}: an answer starts once`)
        if (event.usage) legalUsage(event.usage)
        return
      case 'item':
        equal(event.index, opened++, `${place}: items are numbered in the order they open`)
        opensEmpty(event.item, place)
        open.set(event.index, { item: event.item, parts: 0 })
        return
      case 'usage':
        return legalUsage(event.usage)
      case 'finish':
        equal(open.size, 0, `${place}: an item is still open`)
        if (event.usage) legalUsage(event.usage)
        equal(at, events.length - 1, `${place}: something follows`)
        return
      case 'failure':
        return equal(at, events.length - 1, `${place}: something follows`)
      default:
        return inItem(event, open, place)
    }
  })
}

type InItem = Extract<GenerateEvent, { readonly index: number }>

function inItem(event: InItem, open: Map<number, { readonly item: Item; parts: number }>, place: string): void {
  const found = open.get(event.index)
  ok(found, `${place}: no item ${event.index} is open`)
  if (event.type === 'item-end') open.delete(event.index)
  if (event.type === 'part') found.parts++
  if (event.type === 'delta' && found.item.type !== 'call') ok(found.parts > 0, `${place}: no part is open`)
}

function opensEmpty(item: Item, place: string): void {
  if (item.type === 'message') deepEqual(item.content, [], `${place}: a message opens without content`)
  if (item.type === 'reasoning') deepEqual(item.parts, [], `${place}: reasoning opens without parts`)
  if (item.type === 'call') equal(item.input, '', `${place}: a call opens without input`)
}

/** Asserts that the items of a whole answer can come from a model: text, reasoning and calls. */
export function legalItems(items: readonly Item[]): void {
  for (const item of items) {
    ok(item.type !== 'result', 'a model gives no results of tools')
    if (item.type === 'message') equal(item.role, 'assistant')
  }
}

/** Asserts that every bucket is a non-negative integer. */
export function legalUsage(usage: Usage): void {
  for (const bucket of ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const)
    ok(Number.isInteger(usage[bucket]) && usage[bucket] >= 0, `usage: "${bucket}" is not a number of tokens`)
}
