import { GatewayError, passedOver } from '../../engine/index.ts'
import type { Envelope, Item, Json, Loss, MediaSource } from '../../engine/index.ts'
import { lastPlace } from './files/place.ts'

/**
 * Rejects a translation in which a text replaces an image or a file that the client attached to its last turn: the model
 * would answer without it. A place that takes it may be tried. A file given by its address may become a text, as one of
 * an earlier turn.
 */
export function refuseLost(request: Envelope, losses: readonly Loss[]): void {
  if (losses.every(({ media }) => media === undefined)) return
  const attached = attachedIn(request.neutral('generate').items)
  for (const { media = [], because } of losses) {
    const medium = media.find((one) => attached.has(one))
    const param = medium && placeOf(medium, request.sent)
    if (param !== undefined)
      throw new GatewayError('invalid_value', { param, reason: because }, { tags: [passedOver, '5xx'] })
  }
}

/** The images and files in what the user has said since the last answer. */
function attachedIn(items: readonly Item[]): ReadonlySet<MediaSource> {
  const last = items.findLastIndex(
    (item) =>
      item.type === 'call' || item.type === 'reasoning' || (item.type === 'message' && item.role === 'assistant'),
  )
  const parts = items
    .slice(last + 1)
    .flatMap((item) => (item.type === 'message' && item.role === 'user' ? item.content : []))
  return new Set(
    parts.flatMap((part) => {
      if (part.type === 'image') return [part.source]
      return part.type === 'file' && part.source.kind !== 'url' ? [part.source] : []
    }),
  )
}

/** Where a medium stands in the client's body; undefined if the gateway has fetched it. */
function placeOf(source: MediaSource, sent: Json): string | undefined {
  switch (source.kind) {
    case 'data':
      return lastPlace(sent, (text) => text.endsWith(source.data))
    case 'text':
      return lastPlace(sent, (text) => text === source.text)
    case 'url':
      return lastPlace(sent, (text) => text === source.url)
    case 'id':
      return lastPlace(sent, (text) => text === source.id)
  }
}
