import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { isList, text } from '../values.ts'
import { partsOf } from './conversation.ts'

/** An ordered list of items, in which later copies replace earlier ones. Each item is compared once. */
export class Standing {
  #places: (JsonObject | undefined)[] = []
  #count = 0
  readonly #byId = new Map<string, number[]>()
  /** The first `#compared` positions by their content; those before `next` are taken. */
  readonly #alike = new Map<string, { readonly places: number[]; next: number }>()
  #compared = 0

  get items(): readonly JsonObject[] {
    return this.#places.filter((item) => item !== undefined)
  }

  push(item: JsonObject): void {
    const id = text(item['id'])
    if (id) {
      const places = this.#byId.get(id)
      if (places) places.push(this.#places.length)
      else this.#byId.set(id, [this.#places.length])
    }
    this.#places.push(item)
    this.#count += 1
  }

  /** Appends items and removes their earlier copies: by an id of theirs, otherwise the first with the same content. */
  replace(items: readonly JsonObject[], names: Iterable<readonly [id: string, item: JsonObject]>): void {
    const met = new Set<JsonObject>()
    for (const [id, item] of names) {
      for (const place of this.#byId.get(id) ?? []) if (this.#take(place)) met.add(item)
      this.#byId.delete(id)
    }
    // Usually all were found by their ids, and no content needs to be compared.
    if (this.#count > 0) this.#takeAlike(items.filter((item) => !met.has(item)))
    if (this.#count === 0) this.#clear()
    for (const item of items) this.push(item)
  }

  #takeAlike(items: readonly JsonObject[]): void {
    for (; this.#compared < this.#places.length; this.#compared += 1) {
      const item = this.#places[this.#compared]
      if (!item) continue
      const contents = contentsOf(item)
      const alike = this.#alike.get(contents)
      if (alike) alike.places.push(this.#compared)
      else this.#alike.set(contents, { places: [this.#compared], next: 0 })
    }
    for (const item of items) {
      const alike = this.#alike.get(contentsOf(item))
      if (!alike) continue
      const { places } = alike
      for (let taken = false; !taken && alike.next < places.length; alike.next += 1)
        taken = this.#take(places[alike.next] ?? 0)
    }
  }

  /** Returns false if it was taken before. */
  #take(place: number): boolean {
    if (!this.#places[place]) return false
    this.#places[place] = undefined
    this.#count -= 1
    return true
  }

  #clear(): void {
    this.#places = []
    this.#byId.clear()
    this.#alike.clear()
    this.#compared = 0
  }
}

/** The content of an item in a canonical form. */
function contentsOf(item: JsonObject): string {
  const { id: _id, status: _status, type = 'message', ...fields } = item
  return canonical({ ...fields, type, content: partsOf(item) })
}

/** JSON with sorted keys, and without empty fields. */
function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  let fields = ''
  for (const name of Object.keys(value).sort()) {
    const field = value[name] ?? null
    if (field !== null) fields += `${JSON.stringify(name)}:${canonical(field)},`
  }
  return `{${fields}}`
}
