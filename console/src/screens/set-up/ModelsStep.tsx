import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { oneOf, useAddress } from '../../parts/search.ts'
import { AddModels } from '../../catalog/AddModels.tsx'
import { providers } from '../../catalog/providers.ts'
import type { UpstreamModel } from '../../catalog/providers.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { shared } from '../../words.ts'
import type { StepProps } from './steps.ts'
import { words } from './words.ts'

/** Adds models of the provider that was just made, or of any that serves. */
export function ModelsStep({ onDone }: StepProps) {
  const [search, change] = useAddress()
  const { data, error, refetch } = useQuery(providers)
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={160} />
  const names = data.filter(({ type, status }) => type !== 'echo' && status.state === 'on').map(({ name }) => name)
  const provider = oneOf(search, 'provider') ?? names[0]
  if (provider === undefined)
    return (
      <Empty text={words.noProvider}>
        <ButtonLink to="/setup/provider">{shared.setUpSteps.provider}</ButtonLink>
      </Empty>
    )
  return (
    <>
      {names.length > 1 && (
        <Select
          label={words.provider}
          data={names}
          value={provider}
          searchable
          maw={320}
          mb="md"
          onChange={(name) => change({ provider: name ?? undefined })}
        />
      )}
      <AddModels
        key={provider}
        provider={provider}
        suggested={suggested}
        onDone={([model]) => onDone('/setup/key', model === undefined ? {} : { model })}
      />
    </>
  )
}

/** Words in the ids of models that do not hold conversations, or are not for everyday use. */
const others =
  /audio|dall|deprecated|embed|guard|image|instruct|live|moderation|preview|realtime|rerank|search|speech|transcri|tts|video|whisper/i

/** How many are ticked at first. */
const wanted = 2

/**
 * Two models to begin with: of those that hold conversations, one of the cheaper and one of the dearer, without the
 * extremes. Where no prices are known, the first ones of the list.
 */
function suggested(models: readonly UpstreamModel[]): readonly string[] {
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
