import { useState } from 'react'
import { bytes } from '../format.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import classes from './LongText.module.css'

/** Characters that are shown at once. */
const most = 65_536

/** Text of others as it is, line breaks included. What is beyond 64 KB is shown by a button. */
export function LongText({ text, mono = false }: { readonly text: string; readonly mono?: boolean }) {
  const [whole, setWhole] = useState(false)
  const isCut = !whole && text.length > most
  return (
    <>
      <div className={classes.text} data-mono={mono || undefined}>
        {isCut ? text.slice(0, most) : text}
      </div>
      {isCut && (
        <Button small onClick={() => setWhole(true)}>
          {shared.showAll(bytes(new Blob([text]).size))}
        </Button>
      )}
    </>
  )
}
