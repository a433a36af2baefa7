import { useEffect, useState } from 'react'
import { oneOf, useAddress } from './search.ts'
import { Icon } from './Icon.tsx'
import classes from './SearchField.module.css'

/** How long nothing has to be typed until it is searched, in milliseconds. */
const patience = 250

/** A field whose text becomes the `search` of the address. */
export function SearchField({ label }: { readonly label: string }) {
  const [search, change] = useAddress()
  const inAddress = oneOf(search, 'search') ?? ''
  const [text, setText] = useState(inAddress)
  const [known, setKnown] = useState(inAddress)
  // Somebody went back, or took all filters away.
  if (known !== inAddress) {
    setKnown(inAddress)
    setText(inAddress)
  }
  useEffect(() => {
    if (text === inAddress) return
    const timer = setTimeout(() => {
      setKnown(text)
      change({ search: text === '' ? undefined : text })
    }, patience)
    return () => clearTimeout(timer)
  }, [text, inAddress, change])
  return (
    <label className={classes.field}>
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}
