import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldsOf } from '../form/schema.ts'
import type { Field, Json } from '../form/schema.ts'
import { SchemaForm } from '../form/SchemaForm.tsx'
import { Button } from '../parts/Button.tsx'
import { Failure } from '../parts/Failure.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { changeProvider, makeProvider, provider, providers, providerTypes, testProvider } from './providers.ts'
import type { Preset, Provider, ProviderType, Tested } from './providers.ts'
import { TestResult } from './TestResult.tsx'
import { words } from './words.ts'
import classes from './catalog.module.css'

interface AddProviderProps {
  readonly onDone: (made: Provider) => void
  readonly onCancel?: () => void
}

/** Makes a provider: first its type or its vendor, then its settings. */
export function AddProvider({ onDone, onCancel }: AddProviderProps) {
  const { data: types, error, refetch } = useQuery(providerTypes)
  const { data: others, error: unlisted, refetch: listAgain } = useQuery(providers)
  const [choice, setChoice] = useState<string | null>(null)
  if (error && !types) return <Failure error={error} onRetry={() => void refetch()} />
  if (unlisted && !others) return <Failure error={unlisted} onRetry={() => void listAgain()} />
  if (!types || !others) return <Skeleton height={220} />
  const kinds = choicesOf(types)
  const chosen = kinds.find(({ value }) => value === choice)
  return (
    <>
      <PresetCards offers={kinds} chosen={choice} onChoose={setChoice} />
      <Select
        label={words.type}
        description={chosen?.type.summary}
        data={[
          { group: words.groups.presets, items: kinds.filter(({ preset }) => preset).map(optionOf) },
          { group: words.groups.types, items: kinds.filter(({ preset }) => !preset).map(optionOf) },
        ]}
        value={choice}
        onChange={setChoice}
        searchable
        maxDropdownHeight={320}
        maw={640}
        mb="md"
      />
      {chosen && (
        <ProviderFields
          key={chosen.value}
          type={chosen.type}
          preset={chosen.preset}
          suggested={freeName(
            chosen.preset?.name ?? chosen.type.type,
            others.map(({ name }) => name),
          )}
          onDone={onDone}
          {...(onCancel && { onCancel })}
        />
      )}
    </>
  )
}

interface Choice {
  readonly value: string
  readonly label: string
  readonly type: ProviderType
  readonly preset?: Preset
}

/** Vendors by the name of their preset, then the types. A vendor that two types know is named with the second one. */
function choicesOf(types: readonly ProviderType[]): readonly Choice[] {
  const presets = types.flatMap((type) =>
    type.presets.map((preset) => {
      const first = types.find((other) => other.presets.some(({ name }) => name === preset.name))
      const label = first === type ? preset.name : words.presetOf(preset.name, type.type)
      return { value: `${type.type} ${preset.name}`, label, type, preset }
    }),
  )
  return [
    ...presets.toSorted((one, other) => one.label.localeCompare(other.label)),
    ...types.map((type) => ({ value: type.type, label: type.type, type })),
  ]
}

/** `name`, or with the first number that makes it one that nothing has. */
function freeName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`
    if (!taken.includes(free)) return free
  }
}

const optionOf = ({ value, label }: Choice) => ({ value, label })

/** The fields of a record that are not those of its type. */
const nameField: Field = {
  ...fieldsOf({
    properties: { name: { type: 'string', maxLength: 64, title: words.name, description: words.nameHint } },
  })[0]!,
  required: true,
}
export const privateField: Field = fieldsOf({
  properties: { allow_private: { type: 'boolean', title: words.allowPrivate, description: words.allowPrivateHint } },
})[0]!

interface ProviderFieldsProps extends AddProviderProps {
  readonly type: ProviderType
  readonly preset: Preset | undefined
  /** The name that it has at first. */
  readonly suggested: string
}

function ProviderFields({ type, preset, suggested, onDone, onCancel }: ProviderFieldsProps) {
  const queries = useQueryClient()
  // A test makes the provider, which then has the name that was free.
  const [firstName] = useState(suggested)
  const [made, setMade] = useState<Provider>()
  const [tested, setTested] = useState<Tested | Error | 'asking'>()
  const fields = [nameField, ...configFields(type, preset !== undefined), privateField]
  const save = async (body: { readonly [name: string]: Json }) => {
    const record = made
      ? await changeProvider(made, without(body, 'name'))
      : await makeProvider({ ...body, type: type.type })
    queries.setQueryData(provider(record.name).queryKey, record)
    void queries.invalidateQueries({ queryKey: ['providers', 'list'] })
    setMade(record)
    return record
  }
  const test = async (body: { readonly [name: string]: Json } | undefined) => {
    if (!body) return
    setTested('asking')
    try {
      setTested(await testProvider((await save(body)).name))
    } catch (error) {
      setTested(error as Error)
    }
  }
  return (
    <SchemaForm
      fields={fields}
      values={{}}
      usual={{ config: preset ? { base_url: preset.base_url } : {} }}
      initial={{
        name: firstName,
        ...(preset ? { 'config.preset': preset.name } : {}),
        ...(type.type === 'echo' ? { config: {} } : {}),
      }}
      save={async (body) => onDone(await save(body))}
      {...(onCancel && { onCancel })}
      renderActions={(body) => (
        <Button busy={tested === 'asking'} onClick={() => void test(body())}>
          {words.test}
        </Button>
      )}
    >
      {tested instanceof Error ? (
        <Failure error={tested} />
      ) : tested === 'asking' ? (
        <p role="status">{words.testing}</p>
      ) : (
        tested && <TestResult tested={tested} />
      )}
    </SchemaForm>
  )
}

/** Kinds of fields that take much room, and that few providers need. */
const rare: readonly Field['kind'][] = ['group', 'rows', 'map', 'json']

/** The fields of a type's settings, the rare ones folded; a preset that was chosen needs no field. */
export function configFields({ schema }: ProviderType, isPreset: boolean): readonly Field[] {
  return fieldsOf(schema, 'config')
    .filter(({ name }) => !(name === 'preset' && isPreset))
    .map((field) => ({ ...field, advanced: field.advanced || (!field.required && rare.includes(field.kind)) }))
}

const without = ({ ...body }: { [name: string]: Json }, name: string) =>
  Object.fromEntries(Object.entries(body).filter(([other]) => other !== name))

/** Vendors and local servers that most people begin with, by the names of their presets. */
const common = ['openrouter', 'mistral', 'deepseek', 'groq', 'xai', 'together', 'ollama', 'vllm']

interface Offer {
  readonly value: string
  readonly label: string
  readonly preset?: { readonly base_url: string }
}

interface PresetCardsProps {
  readonly offers: readonly Offer[]
  readonly chosen: string | null
  readonly onChoose: (value: string) => void
}

/** The common presets, each with the host that it fills in. The list below has all others. */
function PresetCards({ offers, chosen, onChoose }: PresetCardsProps) {
  const shown = common.flatMap((name) => offers.find(({ label, preset }) => preset && label === name) ?? [])
  return (
    <div className={classes.cards} role="group" aria-label={words.commonPresets}>
      {shown.map(({ value, label, preset }) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {label} <span>{new URL(preset?.base_url ?? '').host}</span>
        </button>
      ))}
    </div>
  )
}
