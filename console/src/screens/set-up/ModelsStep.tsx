import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { oneOf, useAddress } from '../../parts/search.ts'
import { AddModels } from '../../catalog/AddModels.tsx'
import { providers } from '../../catalog/providers.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { shared } from '../../words.ts'
import { suggested } from './suggested.ts'
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
