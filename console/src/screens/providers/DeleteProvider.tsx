import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Answers } from '../../api/answers.ts'
import { Link, useNavigate } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { deleteProvider, provider as one } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from './words.ts'
import classes from './providers.module.css'

/** How many models are named; the list of all is a link away. */
const most = 10

interface DeleteProviderProps {
  readonly provider: Provider
  readonly onClose: () => void
}

/** Deletes a provider and the models that were made here for it, once its name is typed. */
export function DeleteProvider({ provider, onClose }: DeleteProviderProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { name, models } = provider
  const remove = async () => {
    await deleteProvider(provider, models > 0)
    await navigate({ to: '/providers', search: {} })
    queries.removeQueries({ queryKey: one(name).queryKey })
    for (const key of [['providers'], ['models'], ['names']]) void queries.invalidateQueries({ queryKey: key })
    toast(words.deleted(name))
  }
  return (
    <ConfirmName
      title={words.deleteNamed(name)}
      name={name}
      action={words.deleteNamed(name)}
      onClose={onClose}
      onConfirm={remove}
    >
      <p className={classes.text}>{words.goes(models)}</p>
      {models > 0 && <Users provider={name} />}
    </ConfirmName>
  )
}

/** The models that use a provider. One of the file keeps it. */
function Users({ provider }: { readonly provider: string }) {
  const { data = [] } = useQuery({
    queryKey: ['models', 'list', 'users', provider],
    queryFn: async ({ signal }) => {
      const query = { provider, sort: 'name', limit: most + 1 }
      return (await ask<Answers['list-model']>('GET', '/api/config/models', { query, signal })).data
    },
  })
  return (
    <ul className={classes.users}>
      {data.slice(0, most).map(({ name, source }) => (
        <li key={name}>
          <Link to={`/models/${encodeURIComponent(name)}`}>{name}</Link>{' '}
          {source === 'file' && <Tag>{words.inFile}</Tag>}
        </li>
      ))}
      {data.length > most && (
        <li>
          <Link to="/models" search={{ provider }}>
            {words.allModels}
          </Link>
        </li>
      )}
    </ul>
  )
}
