import { useNavigate } from '@tanstack/react-router'
import { oneOf, useAddress } from '../../parts/search.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Card } from '../../parts/Card.tsx'
import { Page } from '../../parts/Page.tsx'
import { makeModel } from './api.ts'
import { useShowModel } from './change.ts'
import { newFields, usual } from './fields.ts'
import { words } from './words.ts'

/** Makes a model: a name for what a provider serves. */
export function AddModel() {
  const [search, change] = useAddress()
  const navigate = useNavigate()
  const show = useShowModel()
  const provider = oneOf(search, 'provider')
  return (
    <Page key="add" title={words.add}>
      <Card>
        <SchemaForm
          fields={newFields}
          values={{}}
          usual={usual}
          initial={provider === undefined ? {} : { provider }}
          save={async (body) => {
            const made = await makeModel(body)
            show(made)
            void navigate({ to: `/models/${encodeURIComponent(made.name)}`, search: {} })
          }}
          onCancel={() => change({ add: undefined })}
        />
      </Card>
    </Page>
  )
}
