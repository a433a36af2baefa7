import { useQuery, useQueryClient } from '@tanstack/react-query'
import { configFields, privateField } from '../../catalog/AddProvider.tsx'
import { changeProvider, provider as one, providerTypes } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import type { Json } from '../../form/schema.ts'
import { Values } from '../../form/Values.tsx'
import { Card } from '../../parts/Card.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { RevealSecrets } from './RevealSecrets.tsx'
import { words } from './words.ts'

interface ProviderSettingsProps {
  readonly provider: Provider
  readonly reload: () => Promise<unknown>
}

/** The form of a provider's type; read-only text for one that the file declares. */
export function ProviderSettings({ provider, reload }: ProviderSettingsProps) {
  const queries = useQueryClient()
  const { data: types, error, refetch } = useQuery(providerTypes)
  const type = types?.find((known) => known.type === provider.type)
  if (error && !types) return <Failure error={error} onRetry={() => void refetch()} />
  if (!type) return <Skeleton height={300} />
  const { config = {}, secrets = {} } = provider
  const preset = type.presets.find(({ name }) => name === config['preset'])
  const usual: Json = { config: preset ? { base_url: preset.base_url } : {} }
  const fields = configFields(type, false)
  const values: Json = { config, allow_private: provider.allow_private }
  if (provider.source === 'file')
    return (
      <Card title={words.settings}>
        <Declared at={provider.declared_at ? `${provider.declared_at.file}:${provider.declared_at.line}` : null} />
        <Values fields={fields} values={values} usual={usual} secrets={secrets} />
      </Card>
    )
  const hasSecrets = Object.values(secrets).some(({ set }) => set)
  const labelOf = (path: string) => fields.find((field) => field.path === path)?.label ?? path
  return (
    <Card title={words.settings} actions={hasSecrets && <RevealSecrets provider={provider} labelOf={labelOf} />}>
      <SchemaForm
        fields={[...fields, privateField]}
        values={values}
        usual={usual}
        secrets={secrets}
        reload={reload}
        save={async (body) => {
          queries.setQueryData(one(provider.name).queryKey, await changeProvider(provider, body))
          void queries.invalidateQueries({ queryKey: ['providers', 'list'] })
          toast(shared.saved)
        }}
      />
    </Card>
  )
}
