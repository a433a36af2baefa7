import type { UpstreamModel } from '../../catalog/providers.ts'

/** Words in the ids of models that do not hold conversations, or are not for everyday use. */
const others =
  /audio|dall|deprecated|embed|guard|image|instruct|live|moderation|preview|realtime|rerank|search|speech|transcri|tts|video|whisper/i

/** How many are ticked at first. */
const wanted = 2

/**
 * Two models to begin with: of those that hold conversations, one of the cheaper and one of the dearer, without the
 * extremes. Where no prices are known, the first ones of the list.
 */
export function suggested(models: readonly UpstreamModel[]): readonly string[] {
  const free = models.filter(({ name }) => name === null)
  const talking = free.filter(({ id }) => !others.test(id))
  const usual = talking.length > 0 ? talking : free
  const priced = usual
    .filter(({ known }) => (known.pricing?.['output'] ?? 0) > 0)
    .toSorted((one, other) => one.known.pricing!['output']! - other.known.pricing!['output']!)
  return (priced.length >= wanted ? quarters(priced) : usual.slice(0, wanted)).map(({ id }) => id)
}

/** The one at the end of the first quarter, and the one at the end of the third. */
function quarters<T>(sorted: readonly T[]): readonly T[] {
  const low = Math.floor((sorted.length - 1) / 4)
  const high = Math.max(low + 1, Math.ceil(((sorted.length - 1) * 3) / 4))
  return [low, high].flatMap((at) => sorted[at] ?? [])
}
