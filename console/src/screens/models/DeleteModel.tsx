import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Refusal } from '../../api/ask.ts'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { toast } from '../../parts/toast.tsx'
import { deleteModel, oneModel, usersOf } from './api.ts'
import type { Model } from './api.ts'
import { words } from './words.ts'
import classes from './models.module.css'

interface DeleteModelProps {
  readonly model: Model
  readonly onClose: () => void
}

/** Deletes a model, once its name is typed. One that others name is taken out there after a second confirmation. */
export function DeleteModel({ model, onClose }: DeleteModelProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isUsed, setIsUsed] = useState(false)
  const { name } = model
  const remove = async () => {
    try {
      await deleteModel(model, isUsed)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'in_use') setIsUsed(true)
      throw error
    }
    await navigate({ to: '/models', search: {} })
    queries.removeQueries({ queryKey: oneModel(name).queryKey })
    await queries.invalidateQueries({ queryKey: ['models'] })
    toast(words.deleted(name))
  }
  return (
    <ConfirmName
      title={words.deleteNamed(name)}
      name={name}
      action={isUsed ? words.deleteForced(name) : words.deleteNamed(name)}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
      {isUsed && <Users model={model} />}
    </ConfirmName>
  )
}

/** The models that fall back to a model; whatever else names it stands in the sentence of the refusal. */
function Users({ model }: { readonly model: Model }) {
  const { data = [] } = useQuery(usersOf(model))
  return (
    <>
      <p>{words.usersText}</p>
      {data.length > 0 && (
        <ul className={classes.users}>
          {data.map((name) => (
            <li key={name}>
              <Link to={`/models/${encodeURIComponent(name)}`}>{name}</Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
