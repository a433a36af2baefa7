import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/ScrollArea.layer.css'
import { Select } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import type { Json } from '../../form/schema.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { shared } from '../../words.ts'
import { guard, kinds, make } from './api.ts'
import type { Guard, Kind } from './api.ts'
import { bodyWith, guardFields } from './fields.ts'
import { TryText } from './TryText.tsx'
import { words } from './words.ts'
import classes from './guards.module.css'

interface AddGuardProps {
  readonly onDone: (made: Guard) => void
  readonly onCancel: () => void
}

/** Makes a guard: first its kind, then its settings, which can be tried on a text before they are saved. */
export function AddGuard(props: AddGuardProps) {
  const [chosen, choose] = useState<string | null>(null)
  return (
    <div className={classes.stack}>
      <Loaded query={useQuery(kinds)} height={320}>
        {(all) => {
          const kind = all.find((one) => one.kind === chosen)
          return (
            <>
              <Card>
                <Select
                  label={words.kind}
                  description={kind?.summary}
                  data={all.map((one) => one.kind)}
                  value={chosen}
                  onChange={choose}
                  searchable
                  maxDropdownHeight={320}
                  maw={640}
                />
                {!kind && (
                  <div className={classes.cancel}>
                    <Button onClick={props.onCancel}>{shared.cancel}</Button>
                  </div>
                )}
              </Card>
              {kind && <Settings key={kind.kind} kind={kind} {...props} />}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function Settings({ kind, onDone, onCancel }: AddGuardProps & { readonly kind: Kind }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<{ readonly [name: string]: Json }>({})
  const fields = useMemo(() => guardFields(kind, true), [kind])
  const whole = (body: { readonly [name: string]: Json }) => ({ ...bodyWith(body), kind: kind.kind })
  return (
    <div className={classes.columns}>
      <Card title={words.settings}>
        <SchemaForm
          fields={fields}
          values={{}}
          onBody={setDraft}
          save={async (body) => {
            const made = await make(whole(body))
            queries.setQueryData(guard(made.name).queryKey, made)
            void queries.invalidateQueries({ queryKey: ['guards', 'list'] })
            void queries.invalidateQueries({ queryKey: ['names', 'guard'] })
            onDone(made)
          }}
          onCancel={onCancel}
        />
      </Card>
      <TryText guard={whole(draft)} />
    </div>
  )
}
