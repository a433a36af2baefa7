import type { JsonObject } from '../../spec/json.ts'
import type { MediaSource } from '../../spec/part.ts'
import type { Rest } from '../../spec/tool.ts'
import type { Loss } from '../../spec/translation.ts'
import { word } from './unsaid.ts'

/** What is lost while something is printed in a protocol, in the order met; the same loss is kept once. */
export class Losses {
  readonly #protocol: string
  readonly #met = new Map<string, Loss>()

  constructor(protocol: string) {
    this.#protocol = protocol
  }

  /** @param medium that a text replaces */
  add(field: string, because: string, medium?: MediaSource): void {
    const key = `${field} ${because}`
    const media = medium ? [...(this.#met.get(key)?.media ?? []), medium] : this.#met.get(key)?.media
    this.#met.set(key, media ? { field, because, media } : { field, because })
  }

  /** The fields of the protocol's own `rest`; those of another protocol are lost. `prefix`: where they stand in a body. */
  own(rest: Rest | undefined, { prefix = '', because = `only ${rest?.protocol} has it` } = {}): JsonObject {
    if (!rest || rest.protocol === this.#protocol) return rest?.fields ?? {}
    for (const field of Object.keys(rest.fields)) this.add(`${prefix}${word(field)}`, because)
    return {}
  }

  list(): readonly Loss[] {
    return [...this.#met.values()]
  }
}
