import { useRouter } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Dialog } from '../parts/Dialog.tsx'
import { recentPlaces } from '../parts/recent.ts'
import { useEntries } from './usePalette.ts'
import type { Entry } from './usePalette.ts'
import { words } from './words.ts'
import classes from './Palette.module.css'

/** How many entries are listed. */
const most = 12

/** A reference that a client gave its request, or that a provider gave its answer: one word with a digit in it. */
const reference = /^(?=.*\d)[\w.:-]{8,}$/

/** The id of a request, which leads to its row. */
const requestId = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** One field that finds every screen and record that the user may see, and what can be done. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const router = useRouter()
  const id = useId()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const entries = useEntries(text !== '')
  const found = findAmong(entries, text.trim(), '/logs/$id' in router.routesByPath)
  const chosen = Math.min(at, found.length - 1)
  const take = ({ path, act }: Entry, apart: boolean) => {
    onClose()
    act?.()
    if (path === undefined) return
    if (apart) open(path, '_blank', 'noopener')
    else router.history.push(path)
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = found[chosen]
    if (step !== undefined && found.length > 0) setAt((chosen + step + found.length) % found.length)
    else if (event.key === 'Enter' && entry) take(entry, event.ctrlKey || event.metaKey)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={words.search} onClose={onClose}>
      <input
        className={classes.input}
        role="combobox"
        aria-label={words.searchHint}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder={words.searchHint}
        value={text}
        autoFocus
        onKeyDown={press}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
      />
      <div id={`${id}-list`} className={classes.list} role="listbox" aria-label={words.search}>
        {found.map((entry, index) => (
          <div
            key={`${entry.kind} ${entry.path ?? entry.name}`}
            id={`${id}-${index}`}
            className={classes.entry}
            role="option"
            aria-selected={index === chosen}
            onClick={(event) => take(entry, event.ctrlKey || event.metaKey)}
          >
            {entry.name}
            <span className={classes.kind}>{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className={classes.none} role="status">
          {words.nothingFound}
        </p>
      )}
    </Dialog>
  )
}

/** Without a text, the latest places and then the screens; else what has all its words, what begins with it first. */
function findAmong(entries: readonly Entry[], text: string, hasLogs: boolean): readonly Entry[] {
  if (text === '') {
    const recent = recentPlaces().map(({ title, path }) => ({ name: title, path, kind: words.kinds.recent }))
    const paths = new Set(recent.map(({ path }) => path))
    return [...recent, ...entries.filter(({ path }) => path === undefined || !paths.has(path))].slice(0, most)
  }
  if (hasLogs && requestId.test(text)) return [{ name: text, kind: words.kinds.request, path: `/logs/${text}` }]
  const wanted = text.toLowerCase().split(/\s+/)
  const fits = entries.filter(({ name, kind }) => {
    const own = `${name} ${kind}`.toLowerCase()
    return wanted.every((word) => own.includes(word))
  })
  const begins = ({ name }: Entry) => name.toLowerCase().startsWith(wanted[0] ?? '')
  const found = [...fits.filter(begins), ...fits.filter((entry) => !begins(entry))].slice(0, most)
  if (!hasLogs || !reference.test(text)) return found
  const path = `/logs?range=30d&search=${encodeURIComponent(text)}`
  return [...found, { name: words.reference(text), kind: words.kinds.request, path }]
}
