import { useEffect, useRef, useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { Refusal } from '../api/ask.ts'
import { lastChange } from '../api/lastChange.ts'
import type { LastChange } from '../api/lastChange.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { shared } from '../words.ts'
import { flawsOf } from './check.ts'
import { Conflict } from './Conflict.tsx'
import { printed, secretsIn } from './control.ts'
import type { Bindings, SecretState } from './control.ts'
import { bodyOf, changedSince, changesOf, drafted, isSame, shownAt, undrafted, valueAt } from './draft.ts'
import type { Change, Draft } from './draft.ts'
import { Fields } from './Fields.tsx'
import { Leaving } from './Leaving.tsx'
import { Problems } from './Problems.tsx'
import type { Problem } from './Problems.tsx'
import type { Field, Json } from './schema.ts'
import { withInner } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

export interface SchemaFormProps {
  readonly fields: readonly Field[]
  /** The saved values; `{}` for something new. */
  readonly values: Json
  /** What holds where a value is not set, at the same paths. */
  readonly usual?: Json
  /** What a new form begins with. */
  readonly initial?: Draft
  /** The secrets that are set, by path. */
  readonly secrets?: Readonly<Record<string, SecretState>>
  /** The path of a field that is never folded: somebody looks for it. */
  readonly wanted?: string | undefined
  /** Beside each field: from where its value is. */
  readonly asideOf?: (path: string) => ReactNode
  /** Shows what would change, old and new, before it saves. */
  readonly reviews?: boolean
  /** Sends the body: what was changed alone. Rejects with the gateway's refusal. Absent: changes are tried alone. */
  readonly save?: (body: { readonly [name: string]: Json }) => Promise<unknown>
  /** Reads the saved values again, after somebody else changed them (412). */
  readonly reload?: () => Promise<unknown>
  /** Further buttons beside Save; they get what Save would send. */
  readonly renderActions?: (body: () => { readonly [name: string]: Json } | undefined) => ReactNode
  /** Told what Save would send, after each change. */
  readonly onBody?: (body: { readonly [name: string]: Json }) => void
  /** It is hidden and stays as it is while another tab of its page is shown. */
  readonly outlivesTabs?: boolean
  /** Where it stands for a dialog that closes without saving. */
  readonly onCancel?: () => void
  /** Above the fields. */
  readonly children?: ReactNode
}

/** A form made from a schema. What is wrong stands at its field, and in a summary above. Ctrl+S saves. */
export function SchemaForm(props: SchemaFormProps) {
  const { fields, values, usual = {}, initial = {}, secrets = {}, reviews = false, save, reload, onBody } = props
  const [draft, setDraft] = useState<Draft>(initial)
  // What is typed and is no value yet is kept by the controls; new ones begin without it.
  const [round, setRound] = useState(0)
  const [flaws, setFlaws] = useState<Readonly<Record<string, string>>>({})
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const [attempts, setAttempts] = useState(0)
  const [stage, setStage] = useState<'edit' | 'review' | 'saving'>('edit')
  const [conflict, setConflict] = useState<{ readonly before: Json; readonly by: LastChange | undefined }>()
  const form = useRef<HTMLFormElement>(null)
  const latest = useLatest({ draft, flaws })
  const isCancelled = useRef(false)
  const changes = changesOf(values, draft)
  const isDirty =
    save !== undefined && stage !== 'saving' && Object.keys(draft).some((path) => !isSame(draft[path], initial[path]))

  const valueOf = (path: string) => shownAt(values, draft, path)
  const isKept = (path: string) => secrets[path]?.set === true
  const errorOf = (path: string) => problems.find((problem) => problem.path === path)?.message
  const body = () => bodyOf(values, draft, Object.keys(secrets))

  const forget = () => {
    setDraft({})
    setFlaws({})
    setProblems([])
    setStage('edit')
    setConflict(undefined)
    setRound(round + 1)
  }
  const show = (found: readonly Problem[]) => {
    setProblems(found)
    setAttempts((now) => now + 1)
  }
  const solve = (path: string) => setProblems((now) => now.filter((problem) => problem.path !== path))
  const check = (): boolean => {
    const found = { ...flawsOf(fields, { valueOf, isKept }), ...flaws }
    const list = Object.entries(found).map(([path, message]) => ({ path, message }))
    show(list)
    return list.length === 0
  }
  const send = async () => {
    if (!save) return
    setStage('saving')
    setConflict(undefined)
    setProblems([])
    try {
      await save(body())
      // What was typed meanwhile is not saved yet.
      const later = changedSince(draft, latest.current.draft, values, Object.keys(secrets))
      if (Object.keys(later).length === 0 && isSame(latest.current.flaws, flaws)) return forget()
      setDraft(later)
      setStage('edit')
    } catch (error) {
      show(problemsOf(error as Error))
      setStage('edit')
      if (!(error instanceof Refusal && error.status === 412 && reload)) return
      const [by] = await Promise.all([lastChange(error), reload()])
      setConflict({ before: values, by })
    }
  }
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    event?.stopPropagation()
    if (!save || stage === 'saving' || !check()) return
    if (reviews && changes.length > 0) setStage('review')
    else void send()
  }
  const cancel = () => {
    isCancelled.current = true
    props.onCancel?.()
  }
  const bindings: Bindings = {
    valueOf,
    usualOf: (path) => valueAt(usual, path),
    errorOf,
    secretOf: (path) => secrets[path],
    secretsIn: (path) => secretsIn(secrets, path),
    isTouched: (path) => Object.hasOwn(draft, path) && !isSame(draft[path], valueAt(values, path)),
    wanted: props.wanted,
    asideOf: props.asideOf,
    onChange: (path, value) => {
      setDraft((now) => {
        const next = drafted(now, path, value)
        return isSame(value, valueAt(values, path)) && !isKept(path) ? undrafted(next, path) : next
      })
      solve(path)
    },
    onKeep: (path) => {
      setDraft((now) => undrafted(now, path))
      solve(path)
    },
    placeOf: (path) => path,
    onFlaw: (place, flaw) => setFlaws((now) => withFlaw(now, place, flaw)),
  }
  const pressSave = useSaveKey(form, submit)
  const sent = JSON.stringify(onBody ? body() : {})
  useEffect(() => onBody?.(JSON.parse(sent) as { [name: string]: Json }), [onBody, sent])

  return (
    <form ref={form} className={classes.form} onSubmit={submit} onKeyDown={pressSave} noValidate>
      <Problems problems={problems} fields={fields} attempt={attempts} />
      {props.children}
      <Fields key={round} fields={fields} bindings={bindings} />
      <div className={classes.actions}>
        {save && (
          <Button type="submit" look="primary" busy={stage === 'saving'}>
            {shared.save}
          </Button>
        )}
        {props.renderActions?.(() => (check() ? body() : undefined))}
        {props.onCancel && <Button onClick={cancel}>{shared.cancel}</Button>}
        {props.onCancel === undefined && changes.length > 0 && (
          <>
            <Button look="quiet" onClick={forget}>
              {words.discard}
            </Button>
            <span className={classes.hint}>{words.changes(changes.length)}</span>
          </>
        )}
      </div>
      {stage === 'review' && (
        <Dialog title={words.changes(changes.length)} wide onClose={() => setStage('edit')}>
          <Changes changes={changes} fields={fields} />
          <DialogActions>
            <Button onClick={() => setStage('edit')}>{shared.cancel}</Button>
            <Button look="primary" onClick={() => void send()}>
              {shared.save}
            </Button>
          </DialogActions>
        </Dialog>
      )}
      {conflict && (
        <Conflict
          fields={fields}
          {...conflict}
          theirs={values}
          mine={changes}
          onTheirs={forget}
          onMine={() => void send()}
          onClose={() => setConflict(undefined)}
        />
      )}
      <Leaving isDirty={isDirty} isCancelled={isCancelled} views={props.outlivesTabs ? ['add'] : ['add', 'tab']} />
    </form>
  )
}

function withFlaw(now: Readonly<Record<string, string>>, path: string, flaw: string | undefined) {
  if (now[path] === flaw) return now
  const others = Object.fromEntries(Object.entries(now).filter(([other]) => other !== path))
  return flaw === undefined ? others : { ...others, [path]: flaw }
}

function problemsOf(error: Error): readonly Problem[] {
  if (!(error instanceof Refusal)) return [{ path: null, message: error.message }]
  return error.findings.map(({ param, message }) => ({ path: param, message }))
}

/** What saving would change: the old value and the new one of each field. A secret is only named. */
function Changes({ changes, fields }: { readonly changes: readonly Change[]; readonly fields: readonly Field[] }) {
  const known = new Map(withInner(fields).map((field) => [field.path, field]))
  return (
    <dl className={classes.changes}>
      {changes.map(({ path, from, to }) => {
        const field = known.get(path)
        const isSecret = field?.kind === 'secret' || field?.kind === 'secrets'
        return (
          <div key={path}>
            <dt>{field?.label ?? path}</dt>
            <dd>
              {!isSecret && <del>{printed(from) || words.notSet}</del>}
              <ins>{isSecret ? words.replace : printed(to) || words.notSet}</ins>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/**
 * Ctrl+S, or ⌘S, while the form is shown and the focus is in it or nowhere else. Gives the listener of the form, which
 * also hears its dialogs.
 */
function useSaveKey(form: React.RefObject<HTMLFormElement | null>, submit: () => void) {
  const press = (event: KeyboardEvent | React.KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || !form.current?.checkVisibility()) return
    event.preventDefault()
    event.stopPropagation()
    submit()
  }
  const latest = useLatest(press)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (document.activeElement === document.body) latest.current(event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [latest])
  return press
}

/** The value of the last time that it was drawn, for what is done later. */
function useLatest<T>(value: T): React.RefObject<T> {
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  return latest
}
