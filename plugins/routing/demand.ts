import type { GenerateRequest, Item } from '../../engine/index.ts'

/** What a model must be able to do to serve a request. */
export interface Demand {
  /** Whether any content is an image, however old. */
  readonly images: boolean
  /** Whether a tool may be called. */
  readonly tools: boolean
}

export function demandOf({ items, tools, toolChoice }: GenerateRequest): Demand {
  return { images: items.some(showsImage), tools: tools.length > 0 && toolChoice?.type !== 'none' }
}

function showsImage(item: Item): boolean {
  if (item.type !== 'message' && item.type !== 'result') return false
  return item.content.some(({ type }) => type === 'image')
}
